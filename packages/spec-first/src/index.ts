export { run as generate } from './generate.ts';
