import { OpenAPISchemaValidator } from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';
import { arrayAt, type Checked, type Finding, type Json, objectAt, token, valueAt } from '../document/document.ts';

/** An error of Ajv. */
interface StructureError {
  readonly instancePath?: string;
  readonly message?: string;
  readonly params?: Json;
  readonly keyword?: string;
}

/** Checks a document against the JSON Schema of OpenAPI 3.1. Members that it does not know are ignored. */
export function checkStructure(root: Json): Checked {
  const version = '3.1.0';
  const document = { ...root, openapi: version };
  // Without this option, Ajv would check the schema of OpenAPI itself at each start, for 10 ms.
  const options = { version, validateApiSpec: false };
  // EOV's types ask for more options, and for a document that is valid already.
  const { errors } = new OpenAPISchemaValidator(options as never).validate(document as never);
  const all: readonly StructureError[] = errors ?? [];
  // References are resolved when the document is loaded; some of its valid ones are no URI references.
  const valid = all.filter(({ keyword, instancePath = '' }) => keyword !== 'format' || !instancePath.endsWith('/$ref'));
  const found = valid.filter(({ instancePath = '' }) => !UNSERVED.test(instancePath));
  const ignored = found.flatMap((error) => ignoredBy(root, error) ?? []);
  const invalid = found.filter((error) => ignoredBy(root, error) === undefined && error.keyword !== 'format');
  const precise = invalid.filter(({ keyword = '' }) => !['if', 'oneOf', 'anyOf'].includes(keyword));
  // A branch of `if` or `oneOf` fails as well when only something is wrong inside it that is ignored.
  const isInvalid = precise.length > 0 || invalid.length === valid.length;
  const problems = (precise.length > 0 ? precise : isInvalid ? invalid : []).slice(0, 10).map(findingOf);
  const formats = found.filter(({ keyword }) => keyword === 'format').map(findingOf);
  // A known member with an unknown one inside counts as unknown itself in some branches.
  const innermost = ignored.filter(({ pointer }) => !ignored.some((other) => other.pointer.startsWith(`${pointer}/`)));
  return { problems, notices: [...formats, ...innermost] };
}

/** Parts of a document that say nothing about its own operations. */
const UNSERVED =
  /^\/webhooks\/|^\/components\/(links|callbacks)\/|^(\/paths\/[^/]+\/[a-z]+|\/components)\/(callbacks|responses\/[^/]+\/links)\//;

function findingOf({ instancePath = '', message = '', params }: StructureError): Finding {
  const allowed = arrayAt(objectAt(params).allowedValues).join(', ');
  return { pointer: instancePath, message: allowed === '' ? message : `${message}: ${allowed}` };
}

/** What is served without a member that OpenAPI 3.1 does not have; `undefined` if the error is another one. */
function ignoredBy(root: Json, { instancePath = '', params }: StructureError): Finding | undefined {
  const name = objectAt(params).unevaluatedProperty ?? objectAt(params).additionalProperty;
  if (name !== undefined) {
    const message = `${name} is not a member of OpenAPI 3.1 here: it is ignored`;
    return { pointer: `${instancePath}/${token(String(name))}`, message };
  }
  if (!instancePath.endsWith('/in') || valueAt(root, instancePath) !== 'querystring') return undefined;
  return { pointer: instancePath, message: 'in: querystring is not a place of OpenAPI 3.1: the parameter is ignored' };
}
