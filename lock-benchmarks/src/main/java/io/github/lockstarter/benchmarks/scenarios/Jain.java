// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.util.Collection;

/**
 * How even shares are, from 1/n when one has all to 1 when all have the same.
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
