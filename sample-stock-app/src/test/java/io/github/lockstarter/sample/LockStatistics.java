// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.stereotype.Component;

import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

@Component
class LockStatistics implements LockListener {

	private final Map<String, Duration> longestWaits = new ConcurrentHashMap<>();

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Acquired acquired) {
			this.longestWaits.merge(acquired.key().name(), acquired.waited(), LockStatistics::longer);
		}
	}

	Duration longestWait(String name) {
		return this.longestWaits.getOrDefault(name, Duration.ZERO);
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

}
