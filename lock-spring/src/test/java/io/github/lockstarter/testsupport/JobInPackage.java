// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import io.github.lockstarter.DistributedLock;

/**
 * A class whose method with a lock is not visible in other packages.
 */
public class JobInPackage {

	@DistributedLock
	void run() {
	}

}
