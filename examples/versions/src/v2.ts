import type { Handlers } from '../generated/openapi.ts';
import { stationOf } from './stations.ts';

export const v2: Handlers = {
  getStation({ path }) {
    const { name, celsius } = stationOf(path.id);
    return { status: 200, body: { name, temperature: { value: celsius, unit: 'celsius' } } };
  },
};
