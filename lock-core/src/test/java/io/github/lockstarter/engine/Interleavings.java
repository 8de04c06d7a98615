// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/**
 * Checks many interleavings of a game of threads.
 */
final class Interleavings {

	private static final int NUMBER = Integer.getInteger("model.interleavings", 60);

	private static final int ATTEMPTS = 3;

	private Interleavings() {
	}

	/**
	 * Check a game. If the machine gives it no processor for ten seconds, Lincheck
	 * reports a hang, so such a game is checked again: a game that really hangs does so
	 * each time.
	 */
	static void check(Runnable game) {
		int attempt = 1;
		while (true) {
			try {
				Lincheck.runConcurrentTest(NUMBER, game);
				return;
			}
			catch (LincheckAssertionError ex) {
				boolean hung = ex.getMessage() != null && ex.getMessage().contains("has hung");
				if (!hung || attempt == ATTEMPTS) {
					throw ex;
				}
				attempt++;
			}
		}
	}

}
