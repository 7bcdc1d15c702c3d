import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeFrame,
  FrameReader,
  headerLength,
  nesting,
  ProtocolError,
  parsePayload,
} from "../../src/sandbox/protocol.ts";

const nonce = Buffer.alloc(16, 7);

describe("frames", () => {
  it("come back whole, however the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.json(), { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (texts, cuts) => {
          const stream = Buffer.concat(texts.map((text) => encodeFrame(nonce, text)));
          const reader = new FrameReader(nonce);
          const found: string[] = [];
          for (let at = 0, cut = 0; at < stream.length; cut++) {
            const size = cuts[cut % cuts.length] as number;
            found.push(...reader.push(stream.subarray(at, at + size)));
            at += size;
          }
          expect(found).toEqual(texts);
        },
      ),
    );
  });

  it("are refused at the header when they are too long", () => {
    const header = Buffer.alloc(headerLength);
    header.writeUInt32BE(50 * 2 ** 20);
    header.set(nonce, 4);
    expect(() => new FrameReader(nonce).push(header)).toThrow(ProtocolError);
  });

  it("are refused with another nonce, and so is garbage", () => {
    expect(() => new FrameReader(nonce).push(encodeFrame(Buffer.alloc(16), "{}"))).toThrow("garbage");
    fc.assert(
      fc.property(fc.uint8Array({ minLength: headerLength, maxLength: 100 }), (bytes) => {
        fc.pre(!Buffer.from(bytes).subarray(4, headerLength).equals(nonce));
        expect(() => new FrameReader(nonce).push(Buffer.from(bytes))).toThrow(ProtocolError);
      }),
    );
  });
});

describe("payloads", () => {
  it("are refused when they are no JSON or nested too deeply", () => {
    expect(() => parsePayload("{")).toThrow(ProtocolError);
    expect(() => parsePayload("[".repeat(100_000) + "]".repeat(100_000))).toThrow("nested too deeply");
  });

  it("are measured without being fooled by strings", () => {
    expect(nesting(JSON.stringify(["[[[", '"[', "\\[", { a: [] }]))).toBe(3);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(nesting(JSON.stringify([text]))).toBe(1);
      }),
    );
  });
});
