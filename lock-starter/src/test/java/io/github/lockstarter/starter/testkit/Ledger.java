// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.springframework.stereotype.Component;

@Component
class Ledger {

	void write(long productId, long fencingToken) {
	}

}
