import {
  bodyLimitOf,
  Codecs,
  createSchemas,
  type Document,
  escapePointerToken,
  type MediaType,
  mediaTypeFor,
  type Operation,
  type Outline,
  type Parameter,
  walk,
} from 'openapi-document';
import { type Change, WARNING } from './oasdiff.ts';

/** The keywords of schemas whose changes oasdiff does not report, or not in every place. */
const LIMITS = [
  ...['multipleOf', 'uniqueItems', 'maxItems', 'minProperties', 'maxProperties', 'not'],
  ...['prefixItems', 'unevaluatedItems', 'unevaluatedProperties', 'additionalProperties'],
];

/** Keywords that oasdiff compares neither in items of parameters nor in headers of responses. */
const VALUE_LIMITS = [
  ...['pattern', 'minLength', 'maxLength', 'const'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];

/** Returns changes that oasdiff may not report. */
export const uncompared = (before: Document, after: Document): Change[] => [
  ...basePathChanges(before, after),
  ...securityChanges(before, after),
  ...operationChanges(before, after),
  ...limitChanges(before, after),
];

const changeAt = (pointer: string, text: string): Change => ({
  id: 'not-compared-by-oasdiff',
  level: WARNING,
  text: `${text}, which may break clients`,
  pointer,
});

/** The hosts are not compared, since a service may have several. */
function basePathChanges(before: Document, after: Document): Change[] {
  const current = after.basePaths.map((path) => path || '/').join(' or ');
  return before.basePaths
    .filter((path) => !after.basePaths.includes(path))
    .map((path) => changeAt('/servers', `the base path ${path || '/'} has changed to ${current}`));
}

function securityChanges(before: Document, after: Document): Change[] {
  return Object.entries(after.securitySchemes).flatMap(([key, scheme]) => {
    const former = before.securitySchemes[key];
    // oasdiff reports a changed type.
    if (former?.type !== scheme.type) return [];
    const pointer = `/components/securitySchemes/${escapePointerToken(key)}`;
    return ['scheme', 'in', 'name'].flatMap((member) => {
      const [one, other] = [former, scheme].map((version) => String(version?.[member]));
      const ignoresCase = member === 'scheme' || scheme.in === 'header';
      const isSame = ignoresCase ? one?.toLowerCase() === other?.toLowerCase() : one === other;
      const text = `${member} of the security scheme ${key} has changed from ${one} to ${other}`;
      return isSame ? [] : changeAt(`${pointer}/${member}`, text);
    });
  });
}

/** Compares operations of the same method and URL. */
function operationChanges(before: Document, after: Document): Change[] {
  const keyOf = ({ method, template }: Operation) => `${method} ${template.shape}`;
  const former = new Map(before.operations.map((operation) => [keyOf(operation), operation]));
  return after.operations.flatMap((operation) => {
    const earlier = former.get(keyOf(operation));
    if (earlier === undefined) return [];
    const changes = [
      ...operation.parameters.flatMap((parameter) => {
        const { in: where, name } = parameter;
        const match = earlier.parameters.find((one) => one.in === where && one.name === name);
        if (match === undefined) return [];
        return [...serializationChange(match, parameter), ...itemChanges(match, parameter)];
      }),
      ...operation.responses.flatMap((response) => {
        const match = earlier.responses.find(({ key }) => key === response.key);
        return response.headers.flatMap((header) => {
          const former = match?.headers.find(({ name }) => name === header.name);
          return former === undefined ? [] : headerChanges(former, header);
        });
      }),
      ...(operation.requestBody?.media ?? []).flatMap((media) => {
        const match = earlier.requestBody?.media.find(({ type }) => type === media.type);
        if (match === undefined) return [];
        return [...partChanges(match, media), ...bodyLimitChange(match, media)];
      }),
    ];
    const { method, path } = operation;
    return changes.map((change) => ({ ...change, operation: method.toUpperCase(), path }));
  });
}

/** Compares the results of `style` and `explode`, since these do not affect every value. */
function serializationChange(before: Parameter, after: Parameter): Change[] {
  const { types } = after.outline;
  const composite = types.has('array') ? ['a', 'b'] : { a: 'b' };
  const sample = types.has('array') || types.has('object') ? composite : 'a';
  const [one, other] = [before.write(sample), after.write(sample)];
  if (one === other) return [];
  const text = `the parameter ${after.name} has changed from ${one} to ${other}`;
  return [changeAt(after.pointer, `${text} (style or explode)`)];
}

/** Compares the schemas of the items of a parameter. oasdiff reports only their type and format. */
function itemChanges(former: Parameter, { name, outline, pointer }: Parameter): Change[] {
  const [before, after] = [former.outline.item(0), outline.item(0)];
  const changed = changedKeywords(before, after, VALUE_LIMITS);
  if (isNarrower(before, after)) changed.push('enum');
  return changed.map((keyword) =>
    changeAt(pointer, `${keyword} of the items of the parameter ${name} has changed`),
  );
}

/** Compares the schemas of a header of a response. Clients may not know new values. */
function headerChanges(former: Parameter, { name, outline, pointer }: Parameter): Change[] {
  const keywords = ['type', 'format', ...VALUE_LIMITS];
  const changed = changedKeywords(former.outline, outline, keywords);
  if (isNarrower(outline, former.outline)) changed.push('enum');
  return changed.map((keyword) =>
    changeAt(pointer, `${keyword} of the response header ${name} has changed`),
  );
}

const changedKeywords = (before: Outline, after: Outline, keywords: readonly string[]): string[] =>
  keywords.filter((keyword) => before.restriction(keyword) !== after.restriction(keyword));

/** Returns true if a schema lists values, but not all that the former one allowed. */
function isNarrower(before: Outline, after: Outline): boolean {
  // A changed `const` is reported as such.
  if (before.restriction('const') !== after.restriction('const')) return false;
  const [former, current] = [new Set(before.constants), new Set(after.constants)];
  return current.size > 0 && (former.size === 0 || !former.isSubsetOf(current));
}

/** Returns the parts of a multipart body that no longer allow a media type. */
function partChanges(before: MediaType, after: MediaType): Change[] {
  const { unit, hasBytes } = new Codecs().factsOf(after);
  if (unit !== 'form' || !hasBytes) return [];
  return Object.entries(after.encoding).flatMap(([name, { contentType = '*/*' }]) => {
    const former = before.encoding[name]?.contentType ?? '*/*';
    const [types, formerTypes] = [contentType, former].map((list) =>
      list.split(',').map((type) => ({ type: type.trim() })),
    );
    const isNew = before.outline.members(name).length === 0;
    if (isNew || formerTypes?.every(({ type }) => mediaTypeFor(types ?? [], type))) return [];
    const pointer = `${after.pointer}/encoding/${escapePointerToken(name)}/contentType`;
    const text = `the contentType of the part ${name} has changed from ${former} to ${contentType}`;
    return [changeAt(pointer, text)];
  });
}

/** Reports a smaller `x-body-limit`. oasdiff reports `maxLength`. */
function bodyLimitChange(before: MediaType, after: MediaType): Change[] {
  const [one, other] = [before, after].map(({ source }) => source['x-body-limit']);
  if (one === other || !(limitIn(after) < limitIn(before))) return [];
  const [former, current] = [one, other].map((limit) => limit ?? DEFAULT_LIMIT.text);
  const text = `x-body-limit has changed from ${former} to ${current}`;
  return [changeAt(`${after.pointer}/x-body-limit`, text)];
}

const DEFAULT_LIMIT = { bytes: 100 * 1024, text: '100kb (the default of BODY_LIMIT)' };

/** Returns a limit in bytes, or `NaN` for an invalid one. */
function limitIn(media: MediaType): number {
  try {
    return bodyLimitOf(media, new Codecs().factsOf(media), DEFAULT_LIMIT.bytes);
  } catch {
    return Number.NaN;
  }
}

/** Compares the limits of schemas in the same place. */
function limitChanges(before: Document, after: Document): Change[] {
  const former = schemasOf(before);
  return [...schemasOf(after)].flatMap(([place, { pointer, schema }]) => {
    const earlier = former.get(place)?.schema ?? schema;
    const changed = LIMITS.filter(
      (keyword) => earlier.ownRestriction(keyword) !== schema.ownRestriction(keyword),
    );
    return changed.map((keyword) => changeAt(pointer, `${keyword} has changed`));
  });
}

/** Returns schemas by place: a pointer in which parameters have names instead of indexes. */
function schemasOf({ root }: Document) {
  const schemas = createSchemas(root);
  const byPlace = new Map<string, { readonly pointer: string; readonly schema: Outline }>();
  let parameterPointer = '';
  let parameterPlace = '';
  walk(root, 'document', '', (object, kind, pointer) => {
    if (kind === 'parameter') {
      // The index in the list changes if a parameter is added before this one.
      parameterPointer = pointer;
      parameterPlace = `${pointer.replace(/\d+$/, '')}${object.in} ${object.name}`;
    }
    if (kind === 'schema')
      byPlace.set(
        pointer.replace(parameterPointer, () => parameterPlace),
        { pointer, schema: schemas.outline(object) },
      );
  });
  return byPlace;
}
