// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/**
 * Checks many interleavings of a game of threads.
 */
final class Interleavings {

	private Interleavings() {
	}

	/**
	 * Check a game. On a machine that gives it no processor for ten seconds Lincheck says
	 * that the game has hung, so that is checked once more: one that hangs does so again.
	 * @param number how many interleavings to check
	 */
	static void check(int number, Runnable game) {
		try {
			Lincheck.runConcurrentTest(number, game);
		}
		catch (LincheckAssertionError ex) {
			if (ex.getMessage() == null || !ex.getMessage().contains("has hung")) {
				throw ex;
			}
			Lincheck.runConcurrentTest(number, game);
		}
	}

}
