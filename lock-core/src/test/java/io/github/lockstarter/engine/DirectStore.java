// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.DelegatingStore;

/**
 * A store that does not block, as that of Redis with Lettuce; its answers may come at
 * once.
 */
class DirectStore extends DelegatingStore {

	DirectStore(LockStore delegate) {
		super(delegate);
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

}
