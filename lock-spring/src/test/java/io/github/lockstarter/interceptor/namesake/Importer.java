// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor.namesake;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnContention;

/**
 * A class whose short name is used in another package, too.
 */
public class Importer {

	@DistributedLock(onContention = OnContention.SKIP)
	public void run() {
	}

	@DistributedLock(name = "import")
	public void named() {
	}

}
