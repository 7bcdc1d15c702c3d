/** A word of a text, in lower case, and where it starts. */
export interface Word {
  word: string;
  start: number;
}

const wordPattern = /\p{N}{1,3}(?:,\p{N}{3})+(?:\.\p{N}+)?(?![\p{L}\p{N}])|[\p{L}\p{M}\p{N}]+(?:\.\p{N}+)*/gu;

/** Splits text into words of letters and digits; `2,451.40` is one word and reads `2451.4`. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(wordPattern)) {
    words.push({ word: canonical(match[0].toLowerCase()), start: match.index });
  }
  return words;
}

function canonical(word: string): string {
  if (!/^(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/.test(word)) return word;
  return word.length > 15 ? word : String(Number(word.replaceAll(",", "")));
}

/** Words joined by single spaces, with one at either end: a run of words is a substring of it. */
export function joinedWords(text: string): string {
  return ` ${wordsOf(text)
    .map(({ word }) => word)
    .join(" ")} `;
}

/** A number that anyone could have written: small, round, a power of two, a year. */
export function isPlainNumber(word: string): boolean {
  const value = Number(word);
  if (!/^\d+(?:\.\d+)?$/.test(word)) return false;
  if (value < 1000 && Number.isInteger(value)) return true;
  if (Number.isInteger(Math.log2(value)) || (value >= 1900 && value <= 2100)) return true;
  return word.replace(".", "").replace(/^0+/, "").replace(/0+$/, "").length <= 2;
}

/**
 * Could point at one task when it is rare: five letters or more and no everyday word, or four characters or more with
 * a digit and no plain number.
 */
export function isDistinctive(word: string): boolean {
  if (commonWords.has(word)) return false;
  return /\p{N}/u.test(word) ? word.length >= 4 && !isPlainNumber(word) : word.length >= 5;
}

/** Everyday words of five letters and more, and the vocabulary of prompts and programs. */
const commonWords: ReadonlySet<string> = new Set(
  `about above accept accepted access according across action actions actual actually added adding addition address
  after again against agent agents allow allowed almost along already although always among amount another answer
  answers anyone anything appear appears apply approach argument arguments array around asked asking async assistant
  assume available avoid await based because become becomes before began begin beginning behind being below besides
  better between beyond block boolean bottom brief bring broken build built button cannot candidate careful carefully
  cases cause certain change changed changes character characters check checked checks choice choose class clear
  clearly close closed collect column command common compare compared complete completely concise condition confirm
  consider const contain contains content context continue conversation correct correctly could count create created
  current customer daily data date dates decide decided decision default define definition delete depends describe
  description detail details different difference direct directly discount document double doubt during early
  earlier easily either eight eighteen eighty element eleven empty enough ensure entire entirely entry equal error
  errors especially every everything exact exactly example examples except exceed exist existing exists expect
  expected explain export extra fails failed failure false fetch field fields fifteen fifth fifty figure files filter
  final finally finds first fixed floor follow followed following follows force format formatted forty found four
  fourteen fourth frame friday friend front function further general generally given gives giving going great greater
  group guess handle happen happened having heading heard helpful hence higher highest history however hundred
  ignore import important include included includes including incorrect index indicate inform information initial
  inline input inputs insert inside instead instruction instructions integer interface internal invalid invoice issue
  issues items itself january junction keeps kinds known label labels large larger largest later latest least leave
  length letter letters level light likely likeness limit limits lines listed little local locale longer longest looks
  lower makes making manner march match matched matches matching maximum maybe means member mention mentions message
  messages method middle might million minimum minus minute minutes missing model monday money month months moment
  moreover mostly multiple myself named names nearest nearly necessary needed needs neither nested never nevertheless
  nineteen ninety nobody normal normally nothing notice number numbers object occur occurs offer often older online
  option optional options order ordered original other others otherwise ought output outside overall pages param
  parameter parse parsed particular parts party passed passes pattern people percent perhaps period person phrase
  piece pieces place plain please point points possible prefer present previous price prices print prior problem
  process processor produce program prompt promise proper property provide provided public purpose quality quantity
  query question questions queue quick quickly quite quote quoted raise random range rather reached readable reading
  ready really reason reasons receive received recent record records reduce refer regular related release relevant
  remain remember remove removed repeat repeated replace reply report request require required resource resources
  respond response result results return returned returns right rough round route routed rules running saved schema
  score search second section seems select sender sense sentence separate september sequence series serve service
  seven seventeen seventy several shall shape share short should shown shows similar simple simply since single
  sixteen sixth sixty skill skills skipped slice small smaller solve solved someone something sometimes somewhat
  sorry source space special specific specified split stage standard start started starting state stated statement
  states static status still stock store string strings strip strong style subject submit subset subtotal success
  suggest sunday support supposed switch symbol system table taken takes target tasks tells template terms tests text
  thank thanks their theirs themselves there therefore these thing things think third thirteen thirty thorough those
  though thought thousand three through throw thursday times title today together token tokens tomorrow tools total
  toward trace treat tried trigger trimmed trust truth tuesday turned twelve twenty types typical uncertain undefined
  under understand unique units unknown unless until update upper usage useful users using usual usually valid value
  values variable various verify version wants watch weeks wednesday weekday welcome where whether which while white
  whole whose within without wording words workspace works world would write written wrong years yellow yesterday
  yield young yours yourself base64 base64url utf8 utf16 utf16le latin1 ascii sha256 sha1 md5 int32 uint8 float64
  es2023 http https`.split(/\s+/),
);
