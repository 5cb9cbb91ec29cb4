import {
  declaredFor,
  type Json,
  mediaTypeFor,
  type Operation,
  type Outline,
} from 'openapi-document';
import {
  CheckError,
  type CheckedOperation,
  checkResponse,
  type ReceivedResponse,
  resourceOf,
} from './check-response.ts';
import type { Secret } from './credentials.ts';
import type { Knowledge, Lesson } from './knowledge.ts';
import {
  collectionPathOf,
  idNameOfParameter,
  idParameterOf,
  keyOf,
  namesOf,
  pick,
  resourcePathOf,
} from './names.ts';
import type { RequestPart, RequestValues } from './parts.ts';
import { isIfMatch, type Requests } from './requests.ts';
import { isMock, type RequestDraft, type Sender, writeRequest } from './send.ts';

/** An operation under test. */
export interface Target extends CheckedOperation {
  readonly secrets: readonly Secret[];
  /** The secrets of another caller, if the option has them. */
  readonly otherSecrets: readonly Secret[] | undefined;
  readonly requests: Requests;
}

/** A request that was sent. */
export interface Exchange {
  readonly target: Target;
  readonly draft: RequestDraft;
  readonly secrets: readonly Secret[];
  readonly requestId: string;
  /** Missing if there was none. */
  response?: ReceivedResponse;
}

/** A failed check, with the requests that show it. */
export interface Failure {
  readonly error: CheckError;
  readonly exchanges: readonly Exchange[];
}

/** All that the tests of one service share. */
export interface World {
  readonly sender: Sender;
  readonly knowledge: Knowledge;
  /** The knowledge of the other caller. */
  readonly otherKnowledge: Knowledge;
  /** The numbers of requests, by the id of the operation. */
  readonly counts: Map<string, number>;
  /** The ids of the lists whose totals are right some time after a change. */
  readonly countingLater: Set<string>;
  /** The ids of the operations that mocks respond to. */
  readonly mocked: Set<string>;
  /** The ids of the operations that have succeeded. */
  readonly succeeded: Set<string>;
  readonly randomSeed: number;
  /** The views that were read since the last request that may change them. */
  readonly views: Map<string, View>;
  /** Returns random integers, for requests that only prepare a test. */
  readonly random: () => number;
  /** Returns `undefined` for an operation that cannot be tested. */
  targetOf(operation: Operation): Target | undefined;
}

/** The depth of resources that are created for others. */
const MAX_DEPTH = 4;

/** The number of attempts to create a resource. */
const MAX_ATTEMPTS = 3;

interface CreateOptions {
  /** The path parameters of its parents. By default, they are new, too. */
  readonly within?: Json;
  /** The path parameters of a resource that stays as it is. */
  readonly besides?: Json;
  readonly depth?: number;
  /** The position in a list of different values, as in `spread`. By default random values. */
  readonly index?: number | undefined;
}

interface ValueOptions {
  /** True to create the resources that the request needs, if operations are known that do. */
  readonly isNew?: boolean;
  readonly depth?: number;
  /** Parts with an edge case, which keep their values. */
  readonly fixed?: readonly RequestPart[] | undefined;
  /** The name of a member of the body that keeps its value. */
  readonly unknown?: string | undefined;
  /** The path parameters of the resource, or of the parents of a new resource. */
  readonly within?: Json | undefined;
}

export interface SendOptions {
  readonly secrets?: readonly Secret[];
  /** True if an undeclared status is an error. */
  readonly isStrict?: boolean;
  /** A check of the status, before the response is compared with the document. */
  readonly check?: (response: ReceivedResponse) => void;
}

/** A resource as its GET operation shows it. */
export interface Reading {
  readonly target: Target;
  readonly path: Json;
  readonly response: ReceivedResponse;
  readonly body: unknown;
  /** The form of the body. */
  readonly outline: Outline | undefined;
}

/** The resource of a path, or the items of a list, as a GET operation shows them. */
export interface View {
  readonly operation: Operation;
  readonly path: Json;
  readonly response: ReceivedResponse;
  readonly isList: boolean;
  /** The items by the texts of their ids. A resource has the text `''`. Empty if it is gone. */
  readonly entries: ReadonlyMap<string, unknown>;
  readonly outline: Outline | undefined;
  /** False if a list may have more items. */
  readonly isComplete: boolean;
}

/** A sequence of requests. It keeps them, so that a failure shows all that led to it. */
export class Run {
  readonly exchanges: Exchange[] = [];
  readonly world: World;
  #isOther = false;
  /** The views that are compared before and after a request: none, one of its resource, or all. */
  effects: 'none' | 'own' | 'all' = 'none';

  constructor(world: World) {
    this.world = world;
  }

  /** True while it sends the credentials of another caller. */
  get isOther(): boolean {
    return this.#isOther;
  }

  /** Runs a function as the other one of two callers. */
  async asOther<T>(body: () => Promise<T>): Promise<T> {
    this.#isOther = !this.#isOther;
    try {
      return await body();
    } finally {
      this.#isOther = !this.#isOther;
    }
  }

  get knowledge(): Knowledge {
    return this.isOther ? this.world.otherKnowledge : this.world.knowledge;
  }

  /**
   * @param culprit the operation whose response is wrong, if it is not the tested one.
   * @param wrong the wrong response. By default, the last one.
   */
  fail(check: string, message: string, culprit?: Operation, wrong?: ReceivedResponse): never {
    const exchange = this.exchanges.find(({ response }) => wrong && response === wrong);
    if (exchange !== undefined) this.exchanges.push(exchange);
    throw new CheckError(check, message, culprit);
  }

  /** Sends a request without checks. @throws {CheckError} if there is no response. */
  async send(
    target: Target,
    draft: RequestDraft,
    secrets = (this.isOther ? target.otherSecrets : undefined) ?? target.secrets,
  ): Promise<ReceivedResponse> {
    const { sender, randomSeed, counts } = this.world;
    const { operation } = target;
    const request = await writeRequest(target, draft, secrets);
    const number = (counts.get(operation.id) ?? 0) + 1;
    counts.set(operation.id, number);
    const requestId = `contract-${randomSeed}-${operation.id}-${number}`
      .replace(/[^\w.:-]/g, '.')
      .slice(-64);
    const isStream = (status: number, type: string) => {
      const declared = declaredFor(operation, status);
      const media = declared && mediaTypeFor(declared.media, type);
      return media !== undefined && target.codecs.of(media, type).unit === 'items';
    };
    const headers = { 'X-Request-Id': requestId, ...request.headers };
    const exchange: Exchange = { target, draft, secrets, requestId };
    this.exchanges.push(exchange);
    const isSafe = /^(get|head)$/.test(operation.method);
    if (!isSafe) this.world.views.clear();
    try {
      exchange.response = await sender.send({ ...request, headers }, isStream);
    } catch (error) {
      this.fail('each request gets a response', `there is no response: ${Object(error).message}`);
    }
    if (!isSafe) this.world.views.clear();
    if (isMock(exchange.response)) this.world.mocked.add(operation.id);
    return exchange.response;
  }

  /** Sends a request, and checks the response. @throws {CheckError} */
  async sendAndCheck(
    target: Target,
    draft: RequestDraft,
    { secrets, isStrict = false, check = () => {} }: SendOptions = {},
  ): Promise<ReceivedResponse> {
    const response = await this.send(target, draft, secrets);
    check(response);
    if (response.status >= 500 && !isMock(response)) {
      const message = `the status ${response.status} is a failure of the service`;
      this.fail('no request makes the service fail', message);
    }
    // 413 may be undeclared, since the service itself limits the size of bodies.
    await checkResponse(target, response, isStrict && response.status !== 413);
    return response;
  }

  /** Sends a request, and learns from the response if it succeeds. */
  async sendAndLearn(target: Target, draft: RequestDraft) {
    const response = await this.send(target, draft);
    return { response, ...this.learn(target, draft.values, response) };
  }

  learn({ operation }: Target, values: RequestValues, response: ReceivedResponse): Lesson {
    const { knowledge } = this;
    const { succeeded } = this.world;
    const isSuccess = response.status >= 200 && response.status <= 299;
    if (isSuccess) succeeded.add(operation.id);
    if (isSuccess && operation.method !== 'delete')
      return knowledge.learn(operation, values.path, response);
    if (isSuccess) knowledge.forget(operation, values.path);
    return { paths: new Map(), isKnown: false };
  }

  /**
   * Returns the path parameters of a resource.
   *
   * @param isNew true to create one, if an operation is known that does.
   */
  async resource(template: string, isNew: boolean, depth = 0): Promise<Json> {
    const { knowledge } = this;
    const { random } = this.world;
    const known = knowledge.pathsOf(template);
    const existing = known[random() % 2 === 0 ? 0 : random() % known.length];
    if (!isNew && existing !== undefined) return existing;
    if (depth >= MAX_DEPTH) return existing ?? {};
    return (await this.create(template, { depth }))?.path ?? existing ?? {};
  }

  /**
   * Creates a resource of a template, or one with an id of a name. Resolves to the path parameters
   * of the resource of the template, as far as the response shows them.
   */
  async create(
    key: string,
    { within, besides, depth = 0, index }: CreateOptions = {},
  ): Promise<{ readonly path: Json | undefined } | undefined> {
    const { knowledge } = this;
    const { random, targetOf } = this.world;
    const creators = knowledge.creatorsOf(key);
    for (let attempt = 0; attempt < MAX_ATTEMPTS && creators.length > 0; attempt += 1) {
      const target = targetOf(creators[random() % creators.length] as Operation);
      if (target === undefined) continue;
      const chosen =
        attempt === 0 && index !== undefined
          ? target.requests.spread(index, random)
          : target.requests.choose(random);
      const values = await this.values(target, chosen, { isNew: true, depth: depth + 1, within });
      const isSame =
        target.operation.path === key && keyOf(key, values.path) === keyOf(key, besides ?? {});
      if (isSame) continue;
      const { response, paths } = await this.sendAndLearn(target, { values });
      if (response.status < 300) return { path: paths.get(key) ?? knowledge.pathsOf(key)[0] };
    }
    return undefined;
  }

  /** Completes the values of a request with the ids of resources. */
  async values(
    target: Target,
    values: RequestValues,
    { isNew = false, depth = 0, fixed, unknown, within }: ValueOptions = {},
  ): Promise<RequestValues> {
    const { operation, requests } = target;
    const { knowledge } = this;
    const { random } = this.world;
    const template = resourcePathOf(operation.path);
    const creators = knowledge.creatorsOf(template);
    const isCreator = operation.method === 'put' && creators.includes(operation);
    // A new resource of PUT has a new id.
    const isOwn = isCreator && isNew;
    let path: Json = {};
    // Another resource may have no cover at `/books/{id}/cover`.
    const isRead = operation.method === 'get' && !isNew && random() % 2 === 0;
    const written = isRead ? knowledge.writtenAt(operation) : undefined;
    if (within !== undefined) path = within;
    else if (written !== undefined) path = written;
    else if (template !== '' && !isOwn) path = await this.resource(template, isNew, depth);
    else if (isOwn) path = await this.#parentPath(template, isNew, depth);
    if (isNew && depth < MAX_DEPTH) {
      for (const name of new Set(idNamesIn(values.body))) {
        const creator = knowledge.creatorsOf(name)[0];
        if (creator === undefined || creator === operation) continue;
        // What a booking refers to is below its own hotel.
        const parents = parentNamesOf(creator);
        const isBelow = parents.length > 0 && parents.every((each) => path[each] !== undefined);
        await this.create(name, {
          depth: depth + 1,
          ...(isBelow && { within: pick(parents, path) }),
        });
      }
    }
    // The entity tag is that of the last response.
    if (hasIfMatch(target) !== undefined) await this.read(template, path);
    if (isOwn) path = { ...path, ...(await this.#relatedId(operation, depth)) };
    const completed = isOwn ? path : knowledge.completed(operation, path);
    return requests.withIds(values, completed, knowledge, random, {
      usesNewest: isNew,
      fixed,
      unknown,
    });
  }

  /** Returns the last id of a PUT that relates two resources: that of one that exists. */
  async #relatedId(operation: Operation, depth: number): Promise<Json> {
    const name = idParameterOf(operation.path);
    const idName = idNameOfParameter(operation.path, name);
    const isRelation = this.knowledge
      .creatorsOf(idName)
      .some(({ method, path }) => method === 'post' && path !== collectionPathOf(operation.path));
    if (!isRelation) return {};
    await this.create(idName, { depth: depth + 1 });
    return { [name]: this.knowledge.idsOf(idName)[0] };
  }

  async #parentPath(template: string, isNew: boolean, depth: number): Promise<Json> {
    const parent = resourcePathOf(collectionPathOf(template));
    return parent === '' ? {} : this.resource(parent, isNew, depth);
  }

  /**
   * Reads a resource by the GET operation of its path. Returns `undefined` if there is none, or if
   * it needs more than the path.
   */
  async read(template: string, path: Json): Promise<Reading | undefined> {
    const reader = this.knowledge.readerOf(template);
    const target = reader && this.world.targetOf(reader);
    if (target === undefined) return undefined;
    const values = { ...target.requests.simplest(), path };
    const isKnown = namesOf(template).every((name) => path[name] !== undefined);
    if (!isKnown || target.requests.violations(values) === undefined) return undefined;
    const response = await this.send(target, { values });
    this.learn(target, values, response);
    const { value: body, outline } = resourceOf(target, response);
    const reading = { target, path, response, body, outline };
    if (isGone(reading)) this.knowledge.forget(target.operation, path);
    return reading;
  }
}

export const isSuccess = ({ response: { status } }: Reading): boolean =>
  status >= 200 && status < 300;

export const isGone = ({ response: { status } }: Pick<Reading, 'response'>): boolean =>
  status === 404 || status === 410;

export const hasIfMatch = ({ requests }: Target): RequestPart | undefined =>
  requests.parameters.find(isIfMatch);

/** Returns the names of the parents of what an operation creates. */
const parentNamesOf = ({ method, path, template }: Operation): readonly string[] =>
  method === 'put' ? namesOf(collectionPathOf(path)) : template.names;

/** Lists the normalized names of the members of a value that may be ids. */
function idNamesIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    idNameOfParameter('', name),
    ...idNamesIn(member, depth + 1),
  ]);
}
