import { appendFileSync, readFileSync, truncateSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";
import {
  type LedgerEntryOf,
  type LedgerRecord,
  type LedgerRecordOf,
  type LedgerRecordType,
  ledgerRecordSchema,
  ledgerVersion,
} from "./ledger-records.ts";

/** A run's records in order, as they stand on disk. */
export class LedgerView {
  readonly records: LedgerRecord[] = [];
  readonly #byType = new Map<LedgerRecordType, LedgerRecord[]>();
  readonly #scored = new Map<string, LedgerRecordOf<"rollout-scored">>();

  constructor(records: readonly LedgerRecord[] = []) {
    for (const record of records) this.include(record);
  }

  /** Every record of a type, oldest first. */
  all<Type extends LedgerRecordType>(type: Type): readonly LedgerRecordOf<Type>[] {
    return (this.#byType.get(type) ?? []) as LedgerRecordOf<Type>[];
  }

  /** The first record of a type that `predicate` holds for. */
  find<Type extends LedgerRecordType>(
    type: Type,
    predicate: (record: LedgerRecordOf<Type>) => boolean,
  ): LedgerRecordOf<Type> | undefined {
    return this.all(type).find(predicate);
  }

  /** The result of a rollout under an evaluator, if one was paid for; what broke or has no score is none. */
  scored(key: string, scoreKey: string): LedgerRecordOf<"rollout-scored"> | undefined {
    const record = this.#scored.get(key);
    return record?.score_key === scoreKey ? record : undefined;
  }

  protected include(record: LedgerRecord): void {
    this.records.push(record);
    if (record.type === "rollout-scored" && record.score !== null) this.#scored.set(record.key, record);
    const same = this.#byType.get(record.type);
    if (same) same.push(record);
    else this.#byType.set(record.type, [record]);
  }
}

interface Waiting {
  record: LedgerRecord;
  line: string;
  resolve: (record: LedgerRecord) => void;
  reject: (error: unknown) => void;
}

/**
 * The run's memory: append-only, one writer (the holder of the run's lock). An append that resolved is on disk; appends made
 * while the disk is busy share the next fdatasync.
 */
export class Ledger extends LedgerView {
  readonly file: string;
  readonly #handle: FileHandle;
  #lastSeq: number;
  #waiting: Waiting[] = [];
  #writer: Promise<void> | undefined;
  #failure: LorimerError | undefined;
  #syncs = 0;

  private constructor(file: string, handle: FileHandle, records: readonly LedgerRecord[]) {
    super(records);
    this.file = file;
    this.#handle = handle;
    this.#lastSeq = records.length;
  }

  /**
   * Reads the ledger, creating it where there is none; a torn tail is moved to `ledger.torn`.
   * @throws LorimerError `infra` for a bad line, a record of a newer format, or a disk that fails
   */
  static async open(file: string): Promise<Ledger> {
    const { records, wholeBytes, torn } = readLines(file);
    try {
      if (torn.length > 0) setAside(file, wholeBytes, torn);
      const handle = await open(file, "a");
      if (records.length === 0) await syncFolder(dirname(file));
      return new Ledger(file, handle, records);
    } catch (error) {
      throw diskError(file, error);
    }
  }

  /** How often the disk was waited for: far fewer than records when appends come together. */
  get syncs(): number {
    return this.#syncs;
  }

  /**
   * Appends one record; its place in the order is taken when this is called. Resolves with the record as it will be read
   * back, once that is durable.
   * @throws LorimerError `infra` when the disk failed, for this append and every later one
   */
  async append<Type extends LedgerRecordType>(
    entry: { type: Type } & LedgerEntryOf<Type>,
  ): Promise<LedgerRecordOf<Type>> {
    if (this.#failure) throw this.#failure;
    const draft = { v: ledgerVersion, seq: this.#lastSeq + 1, at: new Date().toISOString(), ...entry };
    const line = `${JSON.stringify(draft)}\n`;
    // Parsed from its own line: memory and disk hold the same, so a resumed run decides the same.
    const record = ledgerRecordSchema.parse(JSON.parse(line));
    this.#lastSeq = record.seq;
    const durable = new Promise<LedgerRecord>((resolve, reject) => {
      this.#waiting.push({ record, line, resolve, reject });
    });
    this.#writer ??= this.#writeAll();
    return (await durable) as LedgerRecordOf<Type>;
  }

  /** Waits for what was appended and closes the file. */
  async close(): Promise<void> {
    await this.#writer;
    this.#failure ??= new LorimerError("infra", `${this.file} is closed`);
    await this.#handle.close();
  }

  async #writeAll(): Promise<void> {
    // What is appended in the same turn belongs to the same batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#handle.appendFile(batch.map((waiting) => waiting.line).join(""));
        await this.#handle.datasync();
        this.#syncs++;
      } catch (error) {
        this.#fail(diskError(this.file, error), batch);
        break;
      }
      for (const { record, resolve } of batch) {
        this.include(record);
        resolve(record);
      }
    }
    this.#writer = undefined;
  }

  #fail(failure: LorimerError, batch: readonly Waiting[]): void {
    this.#failure = failure;
    for (const { reject } of [...batch, ...this.#waiting]) reject(failure);
    this.#waiting = [];
  }
}

/** Reads a ledger without touching it, also while a run writes to it; a torn tail is left out. */
export function readLedger(file: string): LedgerView {
  return new LedgerView(readLines(file).records);
}

interface Lines {
  records: LedgerRecord[];
  /** Length of the whole lines, in bytes. */
  wholeBytes: number;
  torn: Buffer;
}

function readLines(file: string): Lines {
  const bytes = readBytes(file);
  const records: LedgerRecord[] = [];
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1) break;
    const text = bytes.toString("utf8", start, end).trim();
    const value = parseJson(text);
    if (value === undefined && end === bytes.length - 1) break;
    records.push(recordOf(value, { file, line, seq: records.length + 1 }));
    start = end + 1;
  }
  return { records, wholeBytes: start, torn: bytes.subarray(start) };
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return Buffer.alloc(0);
    throw new LorimerError("infra", `cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const versionSchema = z.object({ v: z.number() });

function recordOf(value: unknown, where: { file: string; line: number; seq: number }): LedgerRecord {
  const place = `${where.file} line ${where.line}`;
  const version = versionSchema.safeParse(value).data?.v ?? ledgerVersion;
  if (version > ledgerVersion) {
    throw new LorimerError("infra", `${place} has format ${version}; this lorimer reads ${ledgerVersion}`, {
      hint: "Use the lorimer that wrote it, or a newer one.",
    });
  }
  const parsed = ledgerRecordSchema.safeParse(value);
  if (!parsed.success) throw badLine(place, value === undefined ? "not JSON" : z.prettifyError(parsed.error));
  if (parsed.data.seq !== where.seq) throw badLine(place, `seq is ${parsed.data.seq}, not ${where.seq}`);
  return parsed.data;
}

function badLine(place: string, what: string): LorimerError {
  return new LorimerError("infra", `${place} is no ledger record: ${what}`, {
    hint: "The ledger was changed by something else than lorimer: put that line back as it was, or start a new run.",
  });
}

/** The torn bytes are safe in `ledger.torn` before they leave the ledger. */
function setAside(file: string, wholeBytes: number, torn: Buffer): void {
  appendFileSync(file.replace(/(\.jsonl)?$/, ".torn"), Buffer.concat([torn, Buffer.from("\n")]), {
    flush: true,
  });
  truncateSync(file, wholeBytes);
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  await handle.sync().finally(() => handle.close());
}

function diskError(file: string, error: unknown): LorimerError {
  const full = systemCode(error) === "ENOSPC" || systemCode(error) === "EDQUOT";
  return new LorimerError("infra", `cannot write ${file}: ${messageOf(error)}`, {
    hint: full
      ? "Free some disk space, then go on with --resume; what was recorded is kept."
      : "Put the disk right, then go on with --resume; what was recorded is kept.",
    cause: error,
  });
}
