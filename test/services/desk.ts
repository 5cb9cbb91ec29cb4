import {
  bodyOf,
  failureOf,
  inPath,
  isObject,
  type Json,
  listOf,
  operation,
  parameter,
  readBody,
  ref,
  replyOf,
} from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

const PROJECT_ID = inPath('projectId', { type: 'integer', minimum: 1 });

const PROJECT = {
  title: { type: 'string', minLength: 1, maxLength: 80 },
  code: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{6}$' },
  budget: { type: 'number', minimum: 0, maximum: 100_000, multipleOf: 0.01 },
  colour: { type: 'string', enum: ['red', 'green', 'blue'] },
  startsAt: { type: 'string', format: 'date-time' },
  settings: {
    type: 'object',
    properties: {
      isLoud: { type: 'boolean' },
      mails: { type: 'array', maxItems: 4, items: { type: 'string', maxLength: 20 } },
    },
  },
};
const TASK = {
  title: { type: 'string', minLength: 1, maxLength: 60 },
  points: { type: 'integer', minimum: 0, maximum: 100 },
  isDone: { type: 'boolean', default: false },
  dueOn: { type: 'string', format: 'date' },
  remark: { type: ['string', 'null'], maxLength: 60 },
};

/**
 * Projects with a unique code, pages by the last id, and sort orders. Tasks below projects that
 * only a list shows. Labels that have a list only. Guests whose names clients choose.
 */
export const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Desk', version: '1.0.0' },
  security: [],
  paths: {
    '/projects': {
      get: operation(
        'listProjects',
        { 200: replyOf({ type: 'array', items: ref('Project') }) },
        {
          parameters: [
            parameter('query', 'per_page', {
              ...{ type: 'integer', minimum: 1, maximum: 50, default: 20 },
            }),
            parameter('query', 'last_id', { type: 'integer', minimum: 0 }),
            parameter('query', 'sort', { type: 'string', enum: ['title', '-title', 'budget'] }),
            parameter('query', 'colour', PROJECT.colour),
            parameter('query', 'minBudget', { type: 'number', minimum: 0 }),
          ],
        },
      ),
      post: operation(
        'addProject',
        { 201: replyOf(ref('Project')), 409: failureOf('The code is taken.') },
        bodyOf('NewProject'),
      ),
    },
    '/projects/{projectId}': {
      parameters: [PROJECT_ID],
      get: operation('getProject', { 200: replyOf(ref('Project')) }),
      put: operation(
        'replaceProject',
        { 200: replyOf(ref('Project')), 409: failureOf('The code is taken.') },
        bodyOf('NewProject'),
      ),
      delete: operation('deleteProject', { 204: { description: 'Deleted.' } }),
    },
    '/projects/{projectId}/tasks': {
      parameters: [PROJECT_ID],
      get: operation(
        'listTasks',
        {
          200: replyOf({
            type: 'object',
            required: ['tasks', 'total', 'hasMore'],
            properties: {
              ...{ tasks: listOf('Task'), total: { type: 'integer' } },
              hasMore: { type: 'boolean' },
            },
          }),
        },
        {
          parameters: [
            parameter('query', 'page', { type: 'integer', minimum: 1, default: 1 }),
            parameter('query', 'size', {
              ...{ type: 'integer', minimum: 1, maximum: 40, default: 10 },
            }),
            parameter('query', 'isDone', { type: 'boolean' }),
            parameter('query', 'orderBy', { type: 'string', enum: ['title', 'points'] }),
            parameter('query', 'direction', {
              ...{ type: 'string', enum: ['asc', 'desc'], default: 'asc' },
            }),
          ],
        },
      ),
      post: operation(
        'addTask',
        { 201: replyOf(ref('Task')) },
        {
          ...bodyOf('NewTask'),
          parameters: [parameter('header', 'Idempotency-Key', { type: 'string', format: 'uuid' })],
        },
      ),
    },
    '/projects/{projectId}/tasks/{taskId}': {
      parameters: [PROJECT_ID, inPath('taskId')],
      patch: operation(
        'changeTask',
        { 200: replyOf(ref('Task')) },
        {
          requestBody: {
            required: true,
            content: { 'application/merge-patch+json': { schema: ref('TaskPatch') } },
          },
        },
      ),
      delete: operation('deleteTask', { 204: { description: 'Deleted.' } }),
    },
    '/projects/{projectId}/guests/{guest}': {
      parameters: [PROJECT_ID, inPath('guest', { type: 'string', pattern: '^[a-z]{6,12}$' })],
      put: operation(
        'invite',
        { 200: replyOf(ref('Guest')), 201: replyOf(ref('Guest')) },
        bodyOf('Guest'),
      ),
      get: operation('getGuest', { 200: replyOf(ref('Guest')) }),
      delete: operation('dismiss', { 204: { description: 'Deleted.' } }),
    },
    '/labels': {
      get: operation('listLabels', { 200: replyOf(listOf('Label')) }),
      post: operation('addLabel', { 201: replyOf({ type: 'object' }) }, bodyOf('Label')),
    },
  },
  components: {
    responses: { Failure: failureOf('It failed.') },
    schemas: {
      NewProject: { type: 'object', required: ['title', 'code'], properties: PROJECT },
      Project: {
        ...{ type: 'object', required: ['id', 'title', 'code'] },
        properties: { id: { type: 'integer' }, taskCount: { type: 'integer' }, ...PROJECT },
      },
      NewTask: { type: 'object', required: ['title'], properties: TASK },
      TaskPatch: { type: 'object', minProperties: 1, properties: TASK },
      Task: {
        ...{ type: 'object', required: ['id', 'title'] },
        properties: {
          id: { type: 'string' },
          ...TASK,
          status: { type: 'string', enum: ['open', 'deleted'] },
        },
      },
      Guest: {
        ...{ type: 'object', required: ['role'] },
        properties: {
          role: { type: 'string', enum: ['reader', 'writer'] },
          nickname: { type: 'string', minLength: 1, maxLength: 30 },
        },
      },
      Label: {
        ...{ type: 'object', required: ['text'] },
        properties: {
          text: { type: 'string', minLength: 1, maxLength: 30 },
          description: { type: 'string', maxLength: 40 },
        },
      },
    },
  },
});

const GUEST = {
  role: { type: 'string', enum: ['reader', 'writer'] },
  nickname: { type: 'string', minLength: 1, maxLength: 30 },
};
const LABEL = {
  text: { type: 'string', minLength: 1, maxLength: 30 },
  description: { type: 'string', maxLength: 40 },
};

interface Project {
  value: Json;
  tasks: Json[];
  readonly guests: Map<string, Json>;
}

/** Creates a service with one fault or one habit, or a plain one. */
export function createDesk(fault = '') {
  const has = (name: string): boolean => fault === name;
  const does = has;
  const projects = new Map<number, Project>();
  const labels: Json[] = [];
  const keys = new Map<string, Sent>();
  let lastId = 0;

  const shown = ({ value, tasks }: Project): Json =>
    does('a project has a derived count of tasks') ? { ...value, taskCount: tasks.length } : value;

  const within =
    (route: (request: Received, project: Project, id: number) => Sent, none = 404) =>
    (request: Received): Sent => {
      const [text = ''] = request.ids;
      if (!/^[1-9]\d{0,15}$/.test(text)) return failure(400);
      const project = projects.get(Number(text));
      return project === undefined ? failure(none) : route(request, project, Number(text));
    };

  function integer(query: URLSearchParams, name: string, byDefault: number, max: number) {
    const text = query.get(name) ?? `${byDefault}`;
    const isInteger = /^\d{1,15}$/.test(text);
    return isInteger && Number(text) >= Math.min(1, byDefault) && Number(text) <= max
      ? Number(text)
      : undefined;
  }

  const isTaken = (code: unknown, id?: number) =>
    [...projects].some(([other, { value }]) => other !== id && value.code === code);

  function sorted(values: readonly Json[], name: string | null, isDown: boolean): Json[] {
    if (name === null) return [...values];
    const rankOf = (value: Json) => (value[name] ?? -1) as number;
    return values.toSorted((one, other) => {
      const order = Number(rankOf(one) > rankOf(other)) - Number(rankOf(one) < rankOf(other));
      return isDown ? -order : order;
    });
  }

  const routes: Routes = {
    'GET /projects': ({ query }) => {
      const size = integer(query, 'per_page', 20, 50);
      const last = integer(query, 'last_id', 0, 1e15);
      const sort = query.get('sort');
      const colour = query.get('colour');
      const least = query.get('minBudget');
      const isWrong = least !== null && (least === '' || !(Number(least) >= 0));
      if (size === undefined || last === undefined || isWrong) return failure(400);
      if (sort !== null && !/^(-?title|budget)$/.test(sort)) return failure(400);
      if (colour !== null && !PROJECT.colour.enum.includes(colour)) return failure(400);
      let values = [...projects.values()].map(shown);
      if (does('the newest projects come first')) values.reverse();
      if (does('a list shows no settings')) values = values.map(({ settings: _, ...each }) => each);
      if (has('a list shows projects before their change'))
        values = values.map((each) => ({ ...each, title: first.get(each.id) ?? each.title }));
      if (sort !== null && !has('sort is ignored'))
        values = sorted(
          values,
          sort.replace('-', ''),
          sort.startsWith('-') && !has('sort is always ascending'),
        );
      if (colour !== null)
        values = values.filter(
          (each) =>
            each.colour === colour ||
            (has('colour filter shows items without colour') && each.colour === undefined),
        );
      if (least !== null) values = values.filter(({ budget }) => Number(budget) >= Number(least));
      // Pages of a sorted list that compare ids lose items.
      const index = values.findIndex(({ id }) => id === last);
      let rest = last === 0 ? values : values.slice(index + 1);
      if (last !== 0 && has('pages compare ids in a sorted list'))
        rest = values.filter(({ id }) => Number(id) > last);
      if (last !== 0 && has('a page begins with the last id')) rest = values.slice(index);
      if (last !== 0 && has('a page skips the item after the last id'))
        rest = values.slice(index + 2);
      if (last !== 0 && has('last_id is ignored')) rest = values;
      if (last !== 0 && has('pages ignore the colour'))
        rest = [...projects.values()].map(shown).filter(({ id }) => Number(id) > last);
      const count = does('a page has at most 10 projects') ? Math.min(size, 10) : size;
      return {
        status: 200,
        body: rest.slice(0, has('per_page is one too many') ? count + 1 : count),
      };
    },
    'POST /projects': (request) => {
      const body = readBody(request, PROJECT, ['title', 'code']);
      if (body === undefined) return failure(400);
      if (isTaken(body.code)) return failure(409);
      lastId += has('ids repeat') && lastId % 4 === 3 ? 0 : 1;
      const id = lastId;
      if (has('zero is not stored') && body.budget === 0) delete body.budget;
      if (has('false is not stored') && isObject(body.settings) && body.settings.isLoud === false)
        body.settings = { mails: body.settings.mails };
      if (
        has('an empty list is not stored') &&
        isObject(body.settings) &&
        Array.isArray(body.settings.mails) &&
        body.settings.mails.length === 0
      )
        body.settings = { isLoud: body.settings.isLoud };
      if (has('mails are sorted') && isObject(body.settings) && Array.isArray(body.settings.mails))
        body.settings = { ...body.settings, mails: body.settings.mails.toSorted() };
      if (has('milliseconds are lost') && typeof body.startsAt === 'string')
        body.startsAt = body.startsAt.replace(/\.\d+/, '');
      if (has('a title is normalized')) body.title = String(body.title).normalize('NFC');
      first.set(id, body.title);
      const project = { value: { id, ...body }, tasks: [], guests: new Map() };
      projects.set(id, project);
      return {
        status: 201,
        body: has('POST answers before it stores')
          ? { ...project.value, title: 'x' }
          : shown(project),
      };
    },
    'GET /projects/{}': within((_, project) => ({ status: 200, body: shown(project) })),
    'PUT /projects/{}': within((request, project, id) => {
      const body = readBody(request, PROJECT, ['title', 'code']);
      if (body === undefined) {
        const { title } = Object(request.json);
        if (has('a rejected PUT changes the title') && typeof title === 'string')
          project.value.title = title;
        return failure(400);
      }
      if (isTaken(body.code, id)) return failure(409);
      if (has('PUT keeps a missing budget')) body.budget ??= project.value.budget;
      if (has('PUT merges settings'))
        body.settings = body.settings && { ...Object(project.value.settings), ...body.settings };
      if (has('PUT is stored in the next project')) {
        const next = projects.get(id + 1) ?? projects.get(id - 1);
        if (next !== undefined) next.value.title = body.title;
      }
      if (has('PUT loses the tasks')) project.tasks = [];
      project.value = { id, ...body };
      return { status: 200, body: shown(project) };
    }),
    'DELETE /projects/{}': within(
      (_, project, id) => {
        if (has('DELETE removes the tasks of all'))
          for (const each of projects.values()) each.tasks = [];
        if (has('DELETE clears the labels')) labels.length = 0;
        projects.delete(id);
        graves.set(String(id), project);
        if (has('tasks of a deleted project are listed')) orphans.set(id, project);
        return { status: 204 };
      },
      does('a second DELETE is 204') ? 204 : 404,
    ),
    'GET /projects/{}/tasks': (request) => {
      const { query, ids } = request;
      const page = integer(query, 'page', 1, 1e15);
      const size = integer(query, 'size', 10, 40);
      const done = query.get('isDone');
      const order = query.get('orderBy');
      const direction = query.get('direction') ?? 'asc';
      if (page === undefined || size === undefined || !/^[1-9]\d{0,15}$/.test(ids[0] ?? ''))
        return failure(400);
      if (done !== null && !/^(true|false)$/.test(done)) return failure(400);
      if (!/^(asc|desc)$/.test(direction) || (order !== null && !/^(title|points)$/.test(order)))
        return failure(400);
      const project = projects.get(Number(ids[0])) ?? orphans.get(Number(ids[0]));
      if (project === undefined)
        return does('a missing project has no tasks')
          ? { status: 200, body: { tasks: [], total: 0, hasMore: false } }
          : failure(404);
      const all = has('tasks of all projects are listed')
        ? [...projects.values()].flatMap(({ tasks }) => tasks)
        : project.tasks;
      const matching = all.filter(
        ({ isDone, status }) =>
          (status !== 'deleted' || does('deleted tasks are listed with a status')) &&
          (done === null || has('isDone is ignored') || isDone === (done === 'true')),
      );
      const ordered = sorted(matching, order, direction === 'desc' && !has('direction is ignored'));
      const start = (page - 1) * size + (has('the second page begins late') && page > 1 ? 1 : 0);
      const tasks = ordered.slice(start, start + size);
      const total = has('total ignores the filter') ? all.length : matching.length;
      const count = has('total is of the page') ? tasks.length : total;
      const counted =
        does('a total is eventual') && Date.now() - changedAt < 150 ? count - 1 : count;
      const end = start + size;
      const hasMore = has('hasMore is true after a full page')
        ? end <= ordered.length
        : end < ordered.length;
      return { status: 200, body: { tasks, total: Math.max(0, counted), hasMore } };
    },
    'POST /projects/{}/tasks': within((request, project) => {
      const body = readBody(request, TASK, ['title']);
      const key = request.headers['idempotency-key'];
      if (body === undefined || (key !== undefined && !/^[0-9a-f-]{36}$/i.test(String(key))))
        return failure(400);
      const known = keys.get(`${request.ids[0]} ${key}`);
      if (key !== undefined && known !== undefined && !has('a repeated key adds a task'))
        return has('a repeated key gets another title')
          ? { ...known, body: { ...Object(known.body), title: 'other' } }
          : known;
      lastId += 1;
      if (has('a remark is not stored')) delete body.remark;
      const isDone = body.isDone ?? has('isDone is true by default');
      const task = {
        id: `t${lastId}`,
        ...body,
        isDone,
        ...(does('deleted tasks are listed with a status') && { status: 'open' }),
      };
      project.tasks.push(task);
      if (does('a task comes with a second one'))
        project.tasks.push({ ...task, id: `t${lastId}b` });
      if (has('only 12 tasks are kept')) project.tasks = project.tasks.slice(-12);
      changedAt = Date.now();
      const sent = {
        status: 201,
        body: {
          ...task,
          ...(has('a remark is not stored') && { remark: Object(request.json).remark }),
        },
      };
      keys.set(`${request.ids[0]} ${key}`, sent);
      return sent;
    }),
    'PATCH /projects/{}/tasks/{}': within((request, project) => {
      const task = project.tasks.find(({ id }) => id === request.ids[1]);
      const body = readBody(request, TASK, [], 'application/merge-patch+json');
      if (task === undefined) return failure(404);
      if (body === undefined) return failure(400);
      const before = { ...task };
      const changed = has('PATCH changes all tasks') ? project.tasks : [task];
      for (const each of changed) Object.assign(each, body);
      if (has('PATCH forgets the remark') && body.remark === undefined) delete task.remark;
      if (has('null changes nothing') && body.remark === null) task.remark = before.remark;
      if (task.remark === null) delete task.remark;
      const sent = { ...task };
      if (has('PATCH stores no points')) task.points = before.points;
      return { status: 200, body: sent };
    }),
    'DELETE /projects/{}/tasks/{}': within((request, project) => {
      const task = project.tasks.find(({ id }) => id === request.ids[1]);
      if (task === undefined) return failure(404);
      if (does('deleted tasks are listed with a status')) task.status = 'deleted';
      else if (!has('DELETE keeps the task'))
        project.tasks = project.tasks.filter((each) => each !== task);
      if (has('DELETE removes the first task')) project.tasks.shift();
      changedAt = Date.now();
      return { status: 204 };
    }),
    'PUT /projects/{}/guests/{}': within((request, project) => {
      const body = readBody(request, GUEST, ['role']);
      const name = request.ids[1] ?? '';
      if (body === undefined || !/^[a-z]{6,12}$/.test(name)) return failure(400);
      const isNew = !project.guests.has(name);
      const places = has('a guest is in all projects') ? [...projects.values()] : [project];
      for (const { guests } of places)
        guests.set(
          name,
          has('a guest keeps its role') && !isNew
            ? { ...body, role: guests.get(name)?.role }
            : body,
        );
      return { status: isNew ? 201 : 200, body };
    }),
    'GET /projects/{}/guests/{}': (request) => {
      const [id = '', name = ''] = request.ids;
      if (!/^[1-9]\d{0,15}$/.test(id) || !/^[a-z]{6,12}$/.test(name)) return failure(400);
      const former = has('guests of a deleted project are shown') ? graves.get(id) : undefined;
      const guest = (projects.get(Number(id)) ?? former)?.guests.get(name);
      return guest === undefined ? failure(404) : { status: 200, body: guest };
    },
    'DELETE /projects/{}/guests/{}': within(({ ids }, { guests }) => {
      const [, name = ''] = ids;
      if (!/^[a-z]{6,12}$/.test(name)) return failure(400);
      if (!guests.delete(name)) return failure(404);
      if (has('DELETE dismisses all guests')) guests.clear();
      return { status: 204 };
    }),
    'GET /labels': () => ({ status: 200, body: labels }),
    'POST /labels': (request) => {
      const body = readBody(request, LABEL, ['text']);
      if (body === undefined) return failure(400);
      if (has('a description is not listed')) delete body.description;
      if (!has('a label is not stored')) labels.push(body);
      return { status: 201, body: {} };
    },
  };
  const first = new Map<unknown, unknown>();
  const orphans = new Map<number, Project>();
  const graves = new Map<string, Project>();
  let changedAt = 0;
  return listenerOf(routes);
}
