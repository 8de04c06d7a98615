// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.Set;

import io.github.lockstarter.faults.worker.Mode;

/**
 * What a fault does, where, and what locks promise in spite of it.
 *
 * @param title the name of the fault in reports
 * @param sites the kinds of sites that it strikes
 * @param mode the condition of the workers
 * @param exclusion for how long a lock may have two owners
 * @param leavesLocksAvailable whether all instances can acquire locks all the time
 * @param strike causes the fault, and repairs it
 */
public record Nature(String title, Set<SiteKind> sites, Mode mode, Exclusion exclusion, boolean leavesLocksAvailable,
		Strike strike) {

	/**
	 * Return the nature of a fault in spite of which no lock has two owners, although
	 * locks may be unavailable for a while.
	 */
	static Nature of(String title, Set<SiteKind> sites, Strike strike) {
		return new Nature(title, sites, Mode.CALM, Exclusion.ALWAYS, false, strike);
	}

	Nature with(Mode mode) {
		return new Nature(this.title, this.sites, mode, this.exclusion, this.leavesLocksAvailable, this.strike);
	}

	Nature with(Exclusion exclusion) {
		return new Nature(this.title, this.sites, this.mode, exclusion, this.leavesLocksAvailable, this.strike);
	}

	Nature leavingLocksAvailable() {
		return new Nature(this.title, this.sites, this.mode, this.exclusion, true, this.strike);
	}

}
