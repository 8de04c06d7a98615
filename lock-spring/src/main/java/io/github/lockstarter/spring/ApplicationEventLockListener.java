// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.context.ApplicationEventPublisher;

import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

/**
 * Publishes problems of locks as application events. Events of every acquisition are not
 * published, to keep the hot path fast.
 */
final class ApplicationEventLockListener implements LockListener {

	private final ApplicationEventPublisher publisher;

	ApplicationEventLockListener(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Suspect || event instanceof LockEvent.Recovered
				|| event instanceof LockEvent.Lost || event instanceof LockEvent.Late
				|| event instanceof LockEvent.TransactionRefused) {
			this.publisher.publishEvent(event);
		}
	}

}
