import { join } from "node:path";

/** A second recipe, on invented messages to a library: nothing in it has to do with mail. */
export const libraryDesk = join(import.meta.dirname, "../fixtures/recipes/library-desk");
