// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.StoreServers;

/**
 * The servers of locks in Redis: several in a cluster, otherwise one.
 */
final class RedisServers implements StoreServers {

	private final ScriptConnection scripts;

	private final LockScriptCalls calls;

	RedisServers(ScriptConnection scripts, LockScriptCalls calls) {
		this.scripts = scripts;
		this.calls = calls;
	}

	@Override
	public Object of(LockKey key) {
		return this.scripts.isKnownAsCluster() ? this.scripts.serverOf(this.calls.lock(key)) : "";
	}

	@Override
	public @Nullable Runnable lookup() {
		return this.scripts.serverLookup();
	}

}
