// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnContention;

/**
 * The namesake of a class of another package.
 */
class Importer {

	@DistributedLock(onContention = OnContention.SKIP)
	public void run() {
	}

	@DistributedLock(name = "import")
	public void named() {
	}

}
