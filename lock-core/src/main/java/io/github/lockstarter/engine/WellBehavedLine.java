// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletionStage;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * The line of a {@link WellBehavedStore}: waiters poll if they cannot listen.
 */
final class WellBehavedLine implements WaitingLine {

	private static final Log logger = LogFactory.getLog(WellBehavedLine.class);

	private final WaitingLine delegate;

	WellBehavedLine(WaitingLine delegate) {
		this.delegate = delegate;
	}

	@Override
	public boolean listen(WaitingLine.Listener listener) {
		try {
			return this.delegate.listen(listener);
		}
		catch (Throwable ex) {
			logger.debug("Could not listen to the store yet", ex);
			return false;
		}
	}

	@Override
	public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
		return WellBehavedStore.stage(() -> this.delegate.enter(key, owner));
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key) {
		return WellBehavedStore.stage(() -> this.delegate.withdraw(key));
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
		return WellBehavedStore.stage(() -> this.delegate.withdraw(key, owner));
	}

	@Override
	public CompletionStage<Boolean> isAwaited(LockKey key) {
		return WellBehavedStore.stage(() -> this.delegate.isAwaited(key));
	}

}
