import { Inexact } from 'openapi-document';

/** What of a value decides how it is validated. */
export class Survey {
  /** The members of the value and of all values inside. */
  members = 0;
  /** The length of the longest text. */
  longest = 0;
  hasUndefined = false;
  hasInexact = false;

  constructor(value: unknown) {
    this.#add(value);
  }

  #add(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > this.longest) this.longest = value.length;
    } else if (value === undefined) this.hasUndefined = true;
    else if (value instanceof Inexact) this.hasInexact = true;
    else if (Array.isArray(value)) {
      this.members += value.length;
      // A loop over an array with `for … in` takes several times as long.
      for (let at = 0; at < value.length; at += 1) this.#add(value[at]);
    } else if (typeof value === 'object' && value !== null) {
      for (const key in value) {
        this.members += 1;
        if (key.length > this.longest) this.longest = key.length;
        this.#add((value as Record<string, unknown>)[key]);
      }
    }
  }
}
