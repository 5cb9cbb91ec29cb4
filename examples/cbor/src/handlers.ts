import type { Handlers } from '../generated/openapi.ts';

export const handlers: Handlers = {
  addMeasurement: ({ body }) => ({ status: 201, body }),
};
