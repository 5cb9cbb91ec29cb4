/** The steps that are left for one call: members, items, characters of patterns and formats. */
export interface Budget {
  steps: number;
}

/** A budget for work whose amount depends on the document alone, not on a client. */
export const UNLIMITED: Budget = { steps: Number.POSITIVE_INFINITY };

/** Ends a check that needs more steps than its budget has. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';

  constructor() {
    super('is too expensive to validate');
  }
}

/**
 * Subtracts steps from a budget.
 *
 * @throws {BudgetExceeded} if fewer steps are left.
 */
export function spend(budget: Budget, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new BudgetExceeded();
}
