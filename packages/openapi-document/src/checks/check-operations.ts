import { asArray, asObject, escapePointerToken, type Json, resolveRef, valueAt } from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { pathTemplate } from '../document/path-template.ts';
import { lacksScheme } from '../document/servers.ts';
import type { Document, Operation } from '../document/types.ts';
import type { Report } from './report.ts';

/** Checks that operations have distinct names and URLs, and says what of them is not served or not checked. */
export function checkOperations(document: Document, report: Report): void {
  const { root, operations } = document;
  checkServers(root, report);
  checkUrls(document, report);
  checkObjects(root, report);
  const named = new Map<unknown, Operation>();
  const types = new Set<string>();
  for (const operation of operations) {
    const { id, pointer, source } = operation;
    const declared = source.operationId;
    const other = named.get(declared);
    if (other === undefined) named.set(declared ?? pointer, operation);
    else {
      const message = `operationId ${declared} is also that of ${other.method} ${other.path}: this one is ${id}`;
      report.notice(`${pointer}/operationId`, message);
    }
    checkDeclared(document, operation, report);
    checkBodies(operation, types, report);
  }
}

/** Checks that the variables of each server URL are declared. */
function checkServers(root: Json, { problem, notice }: Report): void {
  for (const [index, server] of asArray(root.servers).entries()) {
    const { url, variables } = asObject(server);
    if (lacksScheme(String(url))) notice(`/servers/${index}/url`, `${url} has no scheme: it is read as http://${url}`);
    for (const name of pathTemplate(String(url)).names) {
      if (asObject(variables)[name] !== undefined) continue;
      problem(`/servers/${index}/url`, `the variable {${name}} is not declared in variables`);
    }
  }
}

/** Two operations must not have the same method and URL. The names of path parameters do not distinguish URLs. */
function checkUrls({ basePaths, operations }: Document, { notice }: Report): void {
  const first = new Map<string, Operation>();
  for (const basePath of basePaths) {
    for (const operation of operations) {
      const { method, path, template, pointer } = operation;
      const key = `${method} ${basePath}${template.shape}`;
      const other = first.get(key) ?? operation;
      first.set(key, other);
      if (other === operation) continue;
      const message = `${method} ${basePath}${path} has the same URL as ${other.method} ${other.path}, which is served`;
      notice(pointer, message);
    }
  }
}

/** Checks that the path has the parameters that are declared for it, and `components` the security schemes. */
function checkDeclared(
  { root, securitySchemes }: Document,
  { path, template, pointer, security }: Operation,
  { problem, notice }: Report,
): void {
  for (const at of [`/paths/${escapePointerToken(path)}/parameters`, `${pointer}/parameters`]) {
    for (const [index, value] of asArray(valueAt(root, at)).entries()) {
      const { in: where, name } = resolveRef(root, value) ?? {};
      if (where !== 'path' || template.names.includes(String(name))) continue;
      notice(`${at}/${index}`, `path parameter ${name} is not in the path ${path}: it is ignored`);
    }
  }
  for (const name of security.flatMap((all) => Object.keys(asObject(all)))) {
    if (!securitySchemes[name]) problem(pointer, `security scheme ${name} is not in components.securitySchemes`);
  }
}

/** @param types media types whose bodies are not checked, each of which is reported once. */
function checkBodies(
  { id, pointer, requestBody, responses }: Operation,
  types: Set<string>,
  { problem, notice }: Report,
): void {
  if (responses.length === 0) {
    notice(pointer, `operation ${id} declares no response: its handler answers with any status, without a body`);
  }
  const received = requestBody?.media ?? [];
  const sent = responses.flatMap(({ media }) => media);
  for (const { type, pointer: at } of [...received, ...sent].filter((media) => /[^ -~]/.test(media.type))) {
    problem(at, `${type} is not a media type: it holds a character that no header can have (RFC 9110 §8.3.1)`);
  }
  const unchecked = [
    ...received.filter(({ kind }) => kind === 'stream'),
    ...sent.filter(({ kind, type }) => !['json', 'text'].includes(kind) && !type.includes('*')),
  ];
  for (const media of unchecked.filter(({ constrained, type }) => constrained && !types.has(type))) {
    types.add(media.type);
    notice(media.pointer, `bodies of ${media.type} are not checked against their schema, only their media type is`);
  }
}

/** What the official schema of OpenAPI does not tell. */
function checkObjects(root: Json, { notice }: Report): void {
  for (const path of Object.keys(asObject(root.paths))) {
    if (pathTemplate(path).isReachable) continue;
    const message = 'no request reaches a path with ? or #: declare query parameters instead';
    notice(`/paths/${escapePointerToken(path)}`, message);
  }
  walk(root, 'document', '', (object, kind, at) => {
    const { body, example, examples, servers } = object;
    if (kind === 'link' && body !== undefined) notice(`${at}/body`, 'a link has no body: name it requestBody');
    const isShown = kind === 'parameter' || kind === 'header' || kind === 'mediaType';
    if (isShown && example !== undefined && examples !== undefined) {
      notice(`${at}/example`, 'example and examples exclude each other: examples come first');
    }
    const isServed = (kind === 'pathItem' || kind === 'operation') && !/^\/webhooks|\/callbacks\//.test(at);
    if (!isServed || asArray(servers).length === 0) return;
    const message = 'servers of a path or an operation are ignored: only those at the top of the document are served';
    notice(`${at}/servers`, message);
  });
}
