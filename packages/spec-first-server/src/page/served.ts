import { asObject, isObject, type Json, METHODS } from 'openapi-document';

/**
 * The document with one server: the one that serves it. A relative server URL is resolved against the document's own URL
 * (OpenAPI 3.1 §4.8.5), so that it is right on every host and under every prefix. Servers of single paths and operations
 * are removed, because this service answers all operations.
 */
export function asServed(document: Json, basePath: string): Json {
  const served: Record<string, unknown> = { ...document, servers: [{ url: `.${basePath}` }] };
  if (isObject(document.paths)) served.paths = mapObjects(document.paths, itemAsServed);
  const components = asObject(document.components);
  if (isObject(components.pathItems)) {
    served.components = { ...components, pathItems: mapObjects(components.pathItems, itemAsServed) };
  }
  return served;
}

const itemAsServed = (item: Json): Json =>
  mapObjects(withoutServers(item), (value, key) => (methods.has(key) ? withoutServers(value) : value));

const methods = new Set<string>(METHODS);

const withoutServers = ({ servers: _, ...rest }: Json): Json => rest;

const mapObjects = (object: Json, change: (value: Json, key: string) => Json): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, isObject(value) ? change(value, key) : value]));
