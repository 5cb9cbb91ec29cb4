import type { OpenContext } from 'spec-first-server';

export interface StoredPlant {
  /** From −2⁶³ to 2⁶³−1. Several plants may have the same id. */
  readonly id: bigint;
  readonly name: string;
  /** Missing for a plant without a tag, which differs from an empty tag. */
  readonly tag?: string | undefined;
}

/** A store of plants. The caller that opens it must close it. */
export interface PlantStore {
  /** The URL of the database, without user and password. */
  readonly location: string;
  /**
   * Stores a plant, unless there is one with the same id, name and tag. Resolves after the commit.
   *
   * @throws {Unstorable} if the store cannot store a string exactly.
   * @throws {Unavailable} if the store is unreachable, its disk is full, its table has a constraint
   *   that the plant violates, or too many plants wait. The plant may be stored. Retries are safe.
   */
  add(plant: StoredPlant): Promise<void>;
  /** Resolves if a plant could be added now. @throws {Unavailable} otherwise. */
  ready(): Promise<void>;
  /** Measurements by name, such as the number of `waiting` plants. */
  stats(): Readonly<Record<string, number>>;
  /** Stores the waiting plants, and closes the database. */
  close(): Promise<void>;
}

export interface StoreOptions extends Partial<OpenContext> {
  /** The maximum number of plants that wait. Further plants are rejected. */
  readonly maxWaiting: number;
  /** The milliseconds between two checks of a SQLite file for damage. None by default. */
  readonly checkMs?: number | undefined;
  /** Called for each connection to PostgreSQL. By default, the URL or PGPASSWORD is used. */
  readonly password?: (() => Promise<string>) | undefined;
}

/** A plant cannot be stored. The client gets the message with the status. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
  readonly status = 400;
  readonly expose = true;
}

/** @throws {Unstorable} if a string has a lone surrogate, which UTF-8 would replace. */
export function checkPlant({ name, tag }: StoredPlant): void {
  checkText('/body/name', name);
  checkText('/body/tag', tag);
}

function checkText(path: string, text = ''): void {
  if (text.isWellFormed()) return;
  throw new Unstorable(`${path} must not contain a lone surrogate, which UTF-8 cannot encode`);
}
