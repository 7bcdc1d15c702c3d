import { readSync, writeSync } from "node:fs";
import { encodeFrame, headerLength, type WorkerRequest, wireDescriptor } from "../protocol.ts";
import type { Answer } from "./rollout.ts";

interface Received {
  id: number;
  request: WorkerRequest;
}

export interface Wire {
  /** The next request, or undefined at the end. Blocks: between calls no authored code runs. */
  receive(): Received | undefined;
  send(id: number, answer: Answer): void;
}

export function createWire(): Wire {
  let nonce: Buffer = Buffer.alloc(0);
  return {
    receive() {
      const header = read(headerLength);
      if (header === undefined) return undefined;
      nonce = header.subarray(4);
      const payload = read(header.readUInt32BE(0));
      return payload === undefined ? undefined : (JSON.parse(payload.toString("utf8")) as Received);
    },
    send(id, answer) {
      const rest = "value" in answer ? `"value":${answer.value}` : `"fault":${JSON.stringify(answer.fault)}`;
      write(encodeFrame(nonce, `{"id":${id},${rest}}`));
    },
  };
}

function read(length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const count = readSync(wireDescriptor, bytes, at, length - at, null);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

function write(frame: Buffer): void {
  for (let at = 0; at < frame.length; ) at += writeSync(wireDescriptor, frame, at);
}
