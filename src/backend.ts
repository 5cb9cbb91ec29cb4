import { openPlants } from './plants.ts';
import type { OpenBackend } from './service.ts';

/** Opens what answers the project's operations: the one place that names it. */
export const openBackend: OpenBackend = openPlants;
