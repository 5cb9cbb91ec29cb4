import type { Handlers } from '../v1/generated/openapi.ts';
import { stationOf } from './stations.ts';

export const v1: Handlers = {
  getStation({ path }) {
    const { name, celsius } = stationOf(path.id);
    return { status: 200, body: { name, temperature: celsius * 1.8 + 32 } };
  },
};
