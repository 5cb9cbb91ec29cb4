import { expect, test } from '@jest/globals';
import { BudgetExceeded, spend } from '../../src/schema/budget.ts';
import { createSchemas } from '../../src/schema/schemas.ts';

test('a budget can be spent to the last step', () => {
  const budget = { steps: 3 };
  spend(budget, 1);
  spend(budget, 2);
  expect(budget.steps).toBe(0);
  expect(() => spend(budget, 1)).toThrow(new BudgetExceeded());
});

test('a long list of distinct numbers is not too expensive', () => {
  const schema = createSchemas({}).at({ type: 'array', uniqueItems: true }, 'request');
  const list = Array.from({ length: 400_000 }, (_, index) => index);
  expect(schema.isValid(list)).toBe(true);
});
