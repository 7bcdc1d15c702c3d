import { allowedGlobals } from "../allowed.ts";

type Holder = Record<PropertyKey, unknown>;

/** Freezes `root` and all that can be reached from it. What is frozen already, the intrinsics, is deeply so. */
export function freezeDeep(root: unknown): void {
  const queue: unknown[] = [root];
  while (queue.length > 0) {
    const value = queue.pop();
    if ((typeof value !== "object" && typeof value !== "function") || value === null) continue;
    // A typed array cannot be frozen; none is handed out.
    if (value === globalThis || Object.isFrozen(value) || ArrayBuffer.isView(value)) continue;
    queue.push(Object.getPrototypeOf(value));
    // Most of it is getters and setters, by the thousand: nothing hangs on those.
    const bare = typeof value === "function" && !Object.hasOwn(value, "prototype");
    for (const key of bare ? Object.keys(value) : Reflect.ownKeys(value))
      pushReachable(queue, value as Holder, key);
    Object.freeze(value);
  }
}

function pushReachable(queue: unknown[], holder: Holder, key: PropertyKey): void {
  const found = Object.getOwnPropertyDescriptor(holder, key);
  if (found === undefined) return;
  queue.push(found.value, found.get, found.set);
  // A getter that cannot be redefined is a bundled module's export; any other may be lazy, and not for us to run.
  if (found.get !== undefined && found.configurable === false) queue.push(settled(holder, key));
}

function settled(holder: Holder, key: PropertyKey): unknown {
  try {
    return holder[key];
  } catch {
    return undefined; // a prototype's accessor, read without an instance
  }
}

/**
 * Takes away every global that is not allowed, makes the rest unchangeable, and returns a check that says what differs.
 * Frozen intrinsics do not do this: the global object itself stays open under that flag.
 */
export function lockGlobals(replacements: Record<string, unknown>): () => string[] {
  const kept = new Set<PropertyKey>(allowedGlobals);
  for (const [name, value] of Object.entries(replacements)) {
    Object.defineProperty(globalThis, name, { value, configurable: true });
  }
  // Without its pool a small Buffer would show what an earlier rollout, or a frame, left in it.
  Buffer.poolSize = 0;
  for (const name of Reflect.ownKeys(globalThis)) {
    if (kept.has(name) || name === Symbol.toStringTag) {
      const value = (globalThis as Holder)[name];
      freezeDeep(value);
      if (Object.getOwnPropertyDescriptor(globalThis, name)?.configurable === false) continue;
      Object.defineProperty(globalThis, name, {
        value,
        writable: false,
        configurable: false,
        enumerable: false,
      });
    } else if (!Reflect.deleteProperty(globalThis, name)) {
      throw new Error(`the global ${String(name)} cannot be taken away`);
    }
  }
  Object.preventExtensions(globalThis);
  const before = new Map(Reflect.ownKeys(globalThis).map((name) => [name, (globalThis as Holder)[name]]));
  return () => changedGlobals(before);
}

function changedGlobals(before: ReadonlyMap<PropertyKey, unknown>): string[] {
  const now = Reflect.ownKeys(globalThis);
  const changed = now.filter((name) => !Object.is((globalThis as Holder)[name], before.get(name)));
  if (now.length !== before.size) changed.push("their number");
  return changed.map(String);
}
