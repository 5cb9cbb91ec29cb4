import { OpenAPISchemaValidator } from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';
import { arrayAt, type Checked, type Finding, type Json, objectAt, token } from '../document/document.ts';

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
  // The parameter has the type of a document that is valid already.
  const { errors } = new OpenAPISchemaValidator({ version, validateApiSpec: true } as never).validate(
    document as never,
  );
  const all: readonly StructureError[] = errors ?? [];
  // References are resolved when the document is loaded; some of its valid ones are no URI references.
  const found = all.filter(({ keyword, instancePath = '' }) => keyword !== 'format' || !instancePath.endsWith('/$ref'));
  const unknown = found.filter((error) => unknownMember(error) !== undefined);
  const invalid = found.filter((error) => unknownMember(error) === undefined && error.keyword !== 'format');
  const precise = invalid.filter(({ keyword = '' }) => !['if', 'oneOf', 'anyOf'].includes(keyword));
  // A branch of `if` or `oneOf` fails as well when only an unknown member or a format is wrong inside it.
  const isInvalid = precise.length > 0 || invalid.length === found.length;
  const problems = (precise.length > 0 ? precise : isInvalid ? invalid : []).slice(0, 10).map(findingOf);
  const formats = found.filter(({ keyword }) => keyword === 'format').map(findingOf);
  const ignored = unknown.map((error) => {
    const name = String(unknownMember(error));
    const message = `${name} is not a member of OpenAPI 3.1 here: it is ignored`;
    return { pointer: `${error.instancePath ?? ''}/${token(name)}`, message };
  });
  // A known member with an unknown one inside counts as unknown itself in some branches.
  const innermost = ignored.filter(({ pointer }) => !ignored.some((other) => other.pointer.startsWith(`${pointer}/`)));
  return { problems, notices: [...formats, ...innermost] };
}

function findingOf({ instancePath = '', message = '', params }: StructureError): Finding {
  const allowed = arrayAt(objectAt(params).allowedValues).join(', ');
  return { pointer: instancePath, message: allowed === '' ? message : `${message}: ${allowed}` };
}

const unknownMember = ({ params }: StructureError): unknown =>
  objectAt(params).unevaluatedProperty ?? objectAt(params).additionalProperty;
