import { arrayAt, type Checked, type Finding, type Json, objectAt, token } from '../document/document.ts';
import type { MediaType } from '../document/media-types.ts';
import { type Operation, pathItemOf } from '../document/operations.ts';
import { isReachable, parameterNames, pathShape } from '../document/path-template.ts';
import { basePathsOf, checkServers } from '../document/servers.ts';
import { checkSecurity } from './check-security.ts';

/** Checks that operations have distinct names and URLs, and says what of them is not served or not checked. */
export function checkOperations(root: Json, operations: readonly Operation[]): Checked {
  return {
    problems: [
      ...checkIds(operations),
      ...operations.flatMap(checkPathParameters),
      ...checkUrls(root, operations),
      ...checkServers(root),
      ...checkSecurity(root, operations),
    ],
    notices: [...pathNotices(root), ...operations.flatMap(operationNotices), ...uncheckedMedia(operations)],
  };
}

function checkIds(operations: readonly Operation[]): Finding[] {
  const first = new Map<string, Operation>();
  return operations.flatMap((operation) => {
    const { id, pointer } = operation;
    const other = first.get(id);
    first.set(id, other ?? operation);
    if (other === undefined) return [];
    return [
      { pointer: `${pointer}/operationId`, message: `operationId ${id} is also that of ${other.method} ${other.path}` },
    ];
  });
}

function checkPathParameters({ path, pointer, parameters }: Operation): Finding[] {
  const names = parameterNames(path);
  const declared = parameters.filter((parameter) => parameter.in === 'path');
  const missing = names.filter((name) => !declared.some((parameter) => parameter.name === name));
  const superfluous = declared.filter(({ name }) => !names.includes(name));
  const findings = [
    ...missing.map((name) => ({
      pointer,
      message: `the path has {${name}}, but no path parameter of that name is declared`,
    })),
    ...superfluous.map((parameter) => ({
      pointer: parameter.pointer,
      message: `path parameter ${parameter.name} is not in the path ${path}`,
    })),
  ];
  return path.includes('}{')
    ? [...findings, { pointer, message: 'two path parameters need a text between them' }]
    : findings;
}

/** Two operations must not have the same method and URL. The names of path parameters do not distinguish URLs. */
function checkUrls(root: Json, operations: readonly Operation[]): Finding[] {
  const first = new Map<string, Operation>();
  return basePathsOf({ root }).flatMap((basePath) =>
    operations.flatMap((operation) => {
      const { method, path, pointer } = operation;
      const key = `${method} ${pathShape(basePath + path)}`;
      const other = first.get(key);
      first.set(key, other ?? operation);
      if (other === undefined || other === operation) return [];
      return [{ pointer, message: `${method} ${basePath}${path} has the same URL as ${other.method} ${other.path}` }];
    }),
  );
}

function pathNotices(root: Json): Finding[] {
  const notices: Finding[] = [];
  if (Object.keys(objectAt(root.webhooks)).length > 0) {
    notices.push({ pointer: '/webhooks', message: 'webhooks are not served' });
  }
  for (const [path, value] of Object.entries(objectAt(root.paths))) {
    const item = pathItemOf(root, value);
    const pointer = `/paths/${token(path)}`;
    if (!isReachable(path)) {
      notices.push({ pointer, message: 'a path has no query and no fragment: no request reaches this one' });
    }
    for (const [key, holder] of [['', item], ...Object.entries(item)] as const) {
      if (arrayAt(objectAt(holder).servers).length === 0) continue;
      notices.push({
        pointer: `${pointer}${key && `/${key}`}/servers`,
        message: 'servers of a path or an operation are not served: those of the document are',
      });
    }
  }
  return notices;
}

function operationNotices({ id, pointer, parameters, requestBody, responses }: Operation): Finding[] {
  const notices: Finding[] = [];
  if (responses.length === 0) {
    notices.push({
      pointer,
      message: `operation ${id} declares no response: its handler answers with any status, without a body`,
    });
  }
  for (const media of requestBody?.media ?? []) {
    if (media.source.encoding !== undefined) {
      const message = 'encoding tells files from texts and is not checked';
      notices.push({ pointer: `${media.pointer}/encoding`, message });
    }
  }
  for (const parameter of parameters.filter(({ empty }) => empty)) {
    const message = 'allowEmptyValue is ignored: an empty value is checked like any other';
    notices.push({ pointer: parameter.pointer, message });
  }
  return notices;
}

/** A notice for each media type whose bodies are not checked, at its first place. */
function uncheckedMedia(operations: readonly Operation[]): Finding[] {
  const first = new Map<string, MediaType>();
  for (const { requestBody, responses } of operations) {
    const requested = (requestBody?.media ?? []).filter(({ kind }) => kind === 'stream');
    const answered = responses
      .flatMap(({ media }) => media)
      .filter(({ kind, type }) => !['json', 'text'].includes(kind) && !type.includes('*'));
    for (const media of [...requested, ...answered]) {
      if (media.constrained && !first.has(media.type)) first.set(media.type, media);
    }
  }
  return [...first.values()].map(({ pointer, type }) => ({
    pointer,
    message: `bodies of ${type} are not checked against their schema, only their media type is`,
  }));
}
