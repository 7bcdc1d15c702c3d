/** Both ends of the wire: 4 bytes length (big-endian, of the payload), 16 bytes nonce, the payload as JSON. */
export const nonceLength = 16;
export const headerLength = 4 + nonceLength;

/** The file descriptor of the wire in the worker; stdout and stderr carry nothing that anyone believes. */
export const wireDescriptor = 3;

/** The most bytes that the parent reads as one frame. */
export const maxFrameBytes = 4 * 2 ** 20;

/** The most bytes of one result or one hook's values; above it the worker reports a fault instead of sending. */
export const maxResultBytes = 2 * 2 ** 20;

const maxDepth = 200;

/** What the parent asks. `load` numbers the rollout's parts from 0 in the order they are loaded. */
export type WorkerRequest =
  | { op: "hello" }
  | { op: "load"; part: LoadedPart }
  | { op: "tool"; part: number; input: Record<string, unknown> }
  | { op: "hook"; part: number; hook: string; event: unknown }
  | { op: "end" };

export interface LoadedPart {
  kind: "tool" | "processor";
  file: string;
  exportName: string;
  codeHash: string;
  /** Absent when this worker has compiled it before. */
  code?: string;
  options: Record<string, unknown>;
}

/** What the worker answers, with the request's id; a fault is authored code's own. */
export type WorkerReply = { id: number; value: unknown } | { id: number; fault: string };

export function encodeFrame(nonce: Uint8Array, json: string): Buffer {
  const length = Buffer.byteLength(json);
  const frame = Buffer.alloc(headerLength + length);
  frame.writeUInt32BE(length, 0);
  frame.set(nonce, 4);
  frame.write(json, headerLength);
  return frame;
}

/** A worker that sent what the protocol does not allow; it is killed. */
export class ProtocolError extends Error {}

/** Cuts a stream into payloads; holds at most one frame of at most `maxBytes`. */
export class FrameReader {
  readonly #nonce: Buffer;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #wanted = headerLength;

  constructor(nonce: Uint8Array, maxBytes = maxFrameBytes) {
    this.#nonce = Buffer.from(nonce);
    this.#maxBytes = maxBytes;
  }

  /**
   * The JSON texts that `chunk` completed.
   * @throws ProtocolError at the first byte that cannot be right.
   */
  push(chunk: Buffer): string[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const texts: string[] = [];
    while (this.#size >= this.#wanted) {
      const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      this.#chunks = [bytes];
      const end = this.#frameEnd(bytes);
      if (end > this.#size) {
        this.#wanted = end;
        break;
      }
      texts.push(bytes.toString("utf8", headerLength, end));
      this.#chunks = [bytes.subarray(end)];
      this.#size -= end;
      this.#wanted = headerLength;
    }
    return texts;
  }

  #frameEnd(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    if (length > this.#maxBytes) throw new ProtocolError(`it sent a frame of ${length} bytes`);
    if (!bytes.subarray(4, headerLength).equals(this.#nonce)) throw new ProtocolError("it sent garbage");
    return headerLength + length;
  }
}

/**
 * Parses what a worker sent. Deep nesting is refused: whatever walks the value later would overflow its stack.
 * @throws ProtocolError
 */
export function parsePayload(text: string): unknown {
  if (nesting(text) > maxDepth) throw new ProtocolError("it sent a value nested too deeply");
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolError("it sent a frame that is not JSON");
  }
}

/** The deepest nesting of a JSON text, without parsing it. */
export function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}
