import type { ErrorObject, ValidateFunction } from 'ajv';
import { asArray, escapePointerToken, type Json } from 'openapi-document';
import { type Direction, eovCompiler } from './eov.ts';
import { LargeNumbers, numericKeywords } from './numbers.ts';
import { onceKeyword } from './once.ts';
import { type Violation, Violations } from './violations.ts';

/** Rewritten schemas, each used by its index, and what they reference. */
export interface RewrittenSchemas {
  readonly indexed: readonly Json[];
  readonly components: Readonly<Record<string, Json>>;
}

/** Validates values by the index of a schema. Each schema is compiled when it is first used. */
export class SchemaValidators {
  readonly #schemas: readonly Json[];
  readonly #compile: (schema: Json) => ValidateFunction;
  readonly #validators: ValidateFunction[] = [];
  readonly #large = new LargeNumbers();
  readonly #run = { count: 0 };

  /** @param allErrors whether to look for every violation, or only for the first. */
  constructor(direction: Direction, { indexed, components }: RewrittenSchemas, allErrors: boolean) {
    this.#schemas = indexed;
    const large = direction === 'request' ? this.#large : undefined;
    const keywords = [...numericKeywords(large), onceKeyword(this.#run)];
    this.#compile = eovCompiler(direction, components, { allErrors, keywords });
  }

  /** The validator of a schema. */
  prepare(index: number): ValidateFunction {
    this.#validators[index] ??= this.#compile(this.#schemas[index] ?? {});
    return this.#validators[index];
  }

  /** Rounds each bigint of a request that is valid as `number`. @throws {Violations} */
  validate(index: number, value: unknown): void {
    const validator = this.prepare(index);
    this.#run.count += 1;
    this.#large.forget();
    if (!validator(value)) throw new Violations(violationsOf(validator.errors ?? []));
    this.#large.round();
  }
}

function violationsOf(errors: readonly ErrorObject[]): Violation[] {
  // A failed `if` adds nothing to the violations inside it.
  const telling = errors.filter(({ keyword }) => keyword !== 'if');
  return (telling.length > 0 ? telling : errors).map(({ keyword, instancePath, message = '', params }) => {
    const name = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
    return {
      path: name === undefined ? instancePath : `${instancePath}/${escapePointerToken(String(name))}`,
      message: params.allowedValues ? `${message}: ${asArray(params.allowedValues).join(', ')}` : plain(message),
      keyword,
    };
  });
}

const plain = (message: string): string => (message === 'boolean schema is false' ? 'must not be present' : message);
