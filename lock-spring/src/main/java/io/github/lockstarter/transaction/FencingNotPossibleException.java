// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

/**
 * Transactions have to be fenced but cannot be.
 */
public class FencingNotPossibleException extends IllegalStateException {

	/** The remedy where no fence is possible. */
	static final String BY_HAND = "check the fencing token of the lease in each write, as in"
			+ " \"update … set fence = :token where … and fence < :token\"";

	private final String problem;

	private final String remedy;

	/**
	 * Create an exception.
	 * @param problem why transactions cannot be fenced
	 * @param remedy what to change, as a sentence
	 */
	public FencingNotPossibleException(String problem, String remedy) {
		super(problem + "; " + remedy);
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * Return why transactions cannot be fenced.
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * Return what to change, as a sentence.
	 */
	public String getRemedy() {
		return this.remedy;
	}

}
