import { expect, test } from '@jest/globals';
import { BudgetExceeded, spend } from '../../src/schema/budget.ts';

test('a budget can be spent to the last step', () => {
  const budget = { steps: 3 };
  spend(budget, 1);
  spend(budget, 2);
  expect(budget.steps).toBe(0);
  expect(() => spend(budget, 1)).toThrow(new BudgetExceeded());
});
