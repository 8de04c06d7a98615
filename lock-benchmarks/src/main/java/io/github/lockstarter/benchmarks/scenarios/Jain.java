// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.util.Collection;

/**
 * Jain's fairness index of shares, from 1/n (one participant gets everything) to 1 (all
 * get the same).
 *
 * @see <a href="https://www.cs.wustl.edu/~jain/papers/ftp/fairness.pdf">Jain, Chiu, Hawe:
 * A Quantitative Measure of Fairness</a>
 */
final class Jain {

	private Jain() {
	}

	static double index(Collection<? extends Number> shares) {
		double sum = shares.stream().mapToDouble(Number::doubleValue).sum();
		double squares = shares.stream().mapToDouble((share) -> Math.pow(share.doubleValue(), 2)).sum();
		return (squares > 0) ? sum * sum / (shares.size() * squares) : 1;
	}

}
