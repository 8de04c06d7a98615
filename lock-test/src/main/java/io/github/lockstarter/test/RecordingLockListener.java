// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

/**
 * Remembers what happens to locks, for {@link LockAssertions}. Declare it as a bean, or
 * pass it to a registry.
 */
public class RecordingLockListener implements LockListener {

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	@Override
	public void onEvent(LockEvent event) {
		this.events.add(event);
	}

	/**
	 * Return all events, the oldest first.
	 */
	public List<LockEvent> events() {
		return List.copyOf(this.events);
	}

	/**
	 * Return the locks that events of a type are about, the oldest first.
	 * @param type such as {@link LockEvent.Acquired}
	 */
	public List<LockKey> keys(Class<? extends LockEvent> type) {
		return this.events.stream().filter(type::isInstance).map(LockEvent::key).toList();
	}

	/**
	 * Forget all events.
	 */
	public void clear() {
		this.events.clear();
	}

}
