import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HttpError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

export function filesIn(folder: string): Handlers {
  mkdirSync(folder, { recursive: true });
  const pathOf = (id: string) => join(folder, id);

  /** Writes under a temporary name first, so that no client can read an incomplete file. */
  async function store(id: string, bytes: Readable): Promise<void> {
    const unfinished = pathOf(`${id}.${randomUUID()}.part`);
    try {
      await pipeline(bytes, createWriteStream(unfinished));
      await rename(unfinished, pathOf(id));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  function find(id: string): string {
    if (!existsSync(pathOf(id))) throw new HttpError(404, 'there is no such file');
    return pathOf(id);
  }

  return {
    async uploadFile({ body: { title, file } }) {
      const id = randomUUID();
      await store(id, Readable.from(file.stream()));
      return { status: 201, body: { id, title, bytes: file.size } };
    },
    downloadFile({ path: { id } }) {
      const headers = { 'Content-Disposition': `attachment; filename="${id}"` };
      return { status: 200, headers, body: createReadStream(find(id)) };
    },
    async replaceFile({ path: { id }, body }) {
      find(id);
      await store(id, body);
      return { status: 204 };
    },
  };
}
