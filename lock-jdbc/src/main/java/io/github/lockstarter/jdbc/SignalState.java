// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

/**
 * Where messages about released locks come from.
 */
enum SignalState {

	/** This JVM waits for no lock. */
	IDLE,

	/** The database sends them. */
	NOTIFIED,

	/** The rows say the same. */
	POLLING,

	/** Nowhere, because the database does not answer. */
	LOST

}
