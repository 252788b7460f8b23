/** What can go wrong: the library's own sentence. */
export class TamisError extends Error {
  constructor(message) {
    super(message);
    this.name = "TamisError";
  }
}
