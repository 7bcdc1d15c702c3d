import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NoteDraft } from "../../src/config/candidate-schema.ts";
import {
  foldInbox,
  foldNotes,
  openNotes,
  recordNote,
  submitAnswer,
  waitingAnswers,
} from "../../src/store/inbox.ts";
import { Ledger, readLedger } from "../../src/store/ledger.ts";
import { renderNeeds, writeNeeds } from "../../src/store/needs-page.ts";
import { noteFrom } from "../../src/store/note-schema.ts";
import { createRun, type RunFolder } from "../../src/store/run-folder.ts";
import { manifest } from "./manifest.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();
const draft: NoteDraft = {
  kind: "dependency",
  ask: "Allow the package `mailparser`.",
  why: "Bodies are encoded.",
  evidence: ["r1"],
  blocking: false,
};

async function started(): Promise<{ run: RunFolder; ledger: Ledger }> {
  const run = createRun(join(temporary(), "runs"), "demo", manifest);
  return { run, ledger: await Ledger.open(run.ledgerFile) };
}

describe("notes", () => {
  it("have one id for the same wish, whoever writes it and however", () => {
    const id = noteFrom(draft, 1).id;
    expect(noteFrom({ ...draft, ask: "  allow THE package “mailparser”", why: "else" }, 4).id).toBe(id);
    expect(noteFrom({ ...draft, ask: "Allow the package mailparser2" }, 1).id).not.toBe(id);
    expect(noteFrom({ ...draft, kind: "scope" }, 1).id).not.toBe(id);
    expect(noteFrom({ ...draft, ask: "???" }, 1).id).not.toBe(noteFrom({ ...draft, ask: "!" }, 1).id);
  });

  it("carry no terminal codes and no endless evidence", () => {
    const note = noteFrom(
      { ...draft, ask: "a\u001b[31m\nb\u202e", evidence: Array(100).fill("x".repeat(999)) },
      1,
    );
    expect(note.ask).toBe("a[31m b");
    expect(note.evidence).toHaveLength(20);
    expect(note.evidence[0]?.length).toBe(300);
  });

  it("are opened once over all rounds, and again only after they expired", async () => {
    const { ledger } = await started();
    const first = await recordNote(ledger, draft, 1);
    expect(await recordNote(ledger, { ...draft, why: "again" }, 2)).toEqual(first);
    await ledger.append({ type: "note-answered", id: first.id, status: "denied", answer: "no" });
    expect((await recordNote(ledger, draft, 3)).status).toBe("denied");
    await ledger.append({ type: "note-answered", id: first.id, status: "expired", answer: "" });
    expect(await recordNote(ledger, draft, 4)).toMatchObject({ status: "open", round: 4 });
    expect(ledger.all("note-opened")).toHaveLength(2);
    await ledger.close();
  });

  it("fold to the same state when every record is read twice", () => {
    const record = fc.oneof(
      fc.record({ type: fc.constant("note-opened" as const), ask: fc.constantFrom("a", "b", "c") }),
      fc.record({
        type: fc.constant("note-answered" as const),
        ask: fc.constantFrom("a", "b", "c"),
        status: fc.constantFrom("answered" as const, "denied" as const),
        answer: fc.string(),
      }),
    );
    fc.assert(
      fc.property(fc.array(record), (drafts) => {
        const records = drafts.map((item, index) => {
          const note = noteFrom({ ...draft, ask: item.ask }, 1);
          const base = { v: 1, seq: index + 1, at: "" } as const;
          if (item.type === "note-opened") return { ...base, type: item.type, note };
          return { ...base, type: item.type, id: note.id, status: item.status, answer: item.answer };
        });
        const folded = foldNotes(records);
        expect(foldNotes(records.flatMap((item) => [item, item]))).toEqual(folded);
        expect(openNotes(records)).toEqual(folded.filter(({ status }) => status === "open"));
      }),
    );
  });
});

describe("answers", () => {
  it("wait as files and become records when the run's holder folds them in", async () => {
    const { run, ledger } = await started();
    const note = await recordNote(ledger, draft, 1);
    submitAnswer(run, note.id.slice(0, 4), {
      status: "answered",
      answer: "yes,\n\u0007it is there",
      by: "kim",
    });
    expect(openNotes(readLedger(run.ledgerFile).records)).toHaveLength(1);
    expect(waitingAnswers(run).get(note.id)).toMatchObject({ answer: "yes,\nit is there" });
    const folded = await foldInbox(run, ledger);
    expect(folded).toMatchObject({ answered: [{ id: note.id, status: "answered", by: "kim" }], refused: [] });
    expect(foldNotes(readLedger(run.ledgerFile).records)[0]).toMatchObject({ answer: "yes,\nit is there" });
    expect(readdirSync(run.inboxDir)).toEqual([]);
    expect(await foldInbox(run, ledger)).toEqual({ answered: [], refused: [] });
    await ledger.close();
  });

  it("count once when the run is killed after the record and before the file is gone", async () => {
    const { run, ledger } = await started();
    const note = await recordNote(ledger, draft, 1);
    submitAnswer(run, note.id, { status: "denied", answer: "" });
    const saved = join(temporary(), "inbox");
    cpSync(run.inboxDir, saved, { recursive: true });
    await foldInbox(run, ledger);
    cpSync(join(saved, `${note.id}.json`), join(run.inboxDir, `${note.id}.json.taken`));
    expect(await foldInbox(run, ledger)).toEqual({ answered: [], refused: [] });
    expect(ledger.all("note-answered")).toHaveLength(1);
    await ledger.close();
  });

  it("are all kept when a person changes their mind while one is being folded", async () => {
    const { run, ledger } = await started();
    const note = await recordNote(ledger, draft, 1);
    submitAnswer(run, note.id, { status: "answered", answer: "first" });
    const folding = foldInbox(run, ledger);
    submitAnswer(run, note.id, { status: "answered", answer: "second" });
    await folding;
    await foldInbox(run, ledger);
    expect(ledger.all("note-answered").map(({ answer }) => answer)).toEqual(["first", "second"]);
    await ledger.close();
  });

  it("that are none are set aside with a reason", async () => {
    const { run, ledger } = await started();
    const note = await recordNote(ledger, draft, 1);
    const answer = { v: 1, id: note.id, status: "answered", answer: "x" };
    const bad: Record<string, string> = {
      "1.json": "{",
      "2.json": JSON.stringify({ ...answer, status: "ACCEPT" }),
      "3.json": JSON.stringify({ ...answer, id: "unknown" }),
      "4.json": JSON.stringify({ ...answer, verdict: "accept" }),
      "5.json": JSON.stringify({ ...answer, answer: "x".repeat(70_000) }),
      "notes.txt": "yes please",
    };
    for (const [name, text] of Object.entries(bad)) writeFileSync(join(run.inboxDir, name), text);
    mkdirSync(join(run.inboxDir, "6.json"));
    symlinkSync("/etc/passwd", join(run.inboxDir, "7.json"));
    const folded = await foldInbox(run, ledger);
    expect(folded.answered).toEqual([]);
    expect(folded.refused).toHaveLength(8);
    expect(readdirSync(run.inboxDir)).toEqual(["refused"]);
    expect(existsSync(join(run.inboxDir, "refused/1.json.reason.txt"))).toBe(true);
    expect(ledger.all("note-answered")).toEqual([]);
    await ledger.close();
  });

  it("are refused before they are written when they fit no note or are too long", async () => {
    const { run, ledger } = await started();
    expect(() => submitAnswer(run, "x", { status: "answered", answer: "y" })).toThrow(/there is no note "x"/);
    const { id } = await recordNote(ledger, draft, 1);
    expect(() => submitAnswer(run, id, { status: "answered", answer: " \n" })).toThrow(/is empty/);
    expect(() => submitAnswer(run, id, { status: "answered", answer: "x".repeat(4001) })).toThrow(
      /4000 are allowed/,
    );
    expect(readdirSync(run.inboxDir)).toEqual([]);
    await ledger.close();
  });
});

describe("NEEDS_FROM_HUMAN.md", () => {
  it("lists every run's notes as text", async () => {
    const { run, ledger } = await started();
    const other = createRun(dirname(run.dir), "other", manifest);
    writeFileSync(other.ledgerFile, '{"v":9}\n');
    const open = await recordNote(ledger, { ...draft, ask: "<b>Look</b> [here](http://x)\n# now" }, 2);
    const answered = await recordNote(ledger, { ...draft, blocking: true }, 2);
    submitAnswer(run, answered.id, { status: "answered", answer: "done" });
    await ledger.close();
    const text = readFileSync(writeNeeds(dirname(run.dir)), "utf8");
    expect(text).toContain(`### ${open.id} · dependency · round 2`);
    expect(text).toContain("\\<b\\>Look\\</b\\> \\[here\\](http://x) \\# now");
    expect(text).toContain(`- ${answered.id} answered: Allow the package`);
    expect(text).toContain("## other-0001: 0 open\n\nIts notes could not be read:");
    expect(renderNeeds([])).toContain("Nothing is asked for.");
  });
});
