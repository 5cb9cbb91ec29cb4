import { serve } from 'spec-first-server';
import { errorBody } from './errors.ts';
import { openPlants, variables } from './plants.ts';

await serve({ open: openPlants, variables, errorBody });
