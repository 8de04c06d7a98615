// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.lockstarter.redis.SimulatedRedis;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * The connection of one instance to its server. Requests arrive in the order in which
 * they were sent, and so do answers, as on one TCP connection of a driver; messages have
 * a connection of their own. While it is cut, what is under way is lost.
 */
final class Network implements SimulatedRedis.Wire {

	/** After what time a driver gives up a request that has no answer. */
	private static final long TIMEOUT = Duration.ofSeconds(1).toNanos();

	private final Simulation simulation;

	private final SimulatedTime instance;

	private final Faults faults;

	private final List<CompletableFuture<?>> underWay = new ArrayList<>();

	private long requestsArrive;

	private long answersArrive;

	private long messagesArrive;

	private boolean cut;

	private boolean deaf;

	private long requests;

	private Runnable interruption = () -> {
	};

	Network(Simulation simulation, SimulatedTime instance, Faults faults) {
		this.simulation = simulation;
		this.instance = instance;
		this.faults = faults;
	}

	@Override
	public void onInterruption(Runnable task) {
		this.interruption = task;
	}

	/**
	 * Return how many requests were sent.
	 */
	long requests() {
		return this.requests;
	}

	boolean isDisturbed() {
		return this.cut || this.deaf;
	}

	/**
	 * Cut the connection, or heal it.
	 */
	void cut(boolean cut) {
		this.cut = cut;
		if (cut) {
			List<CompletableFuture<?>> lost = List.copyOf(this.underWay);
			this.underWay.clear();
			lost.forEach((each) -> this.simulation.later(this.instance, 0,
					() -> each.completeExceptionally(new IllegalStateException("the connection was closed"))));
			this.simulation.later(this.instance, 0, this.interruption);
		}
	}

	/**
	 * Lose all messages without a sign, or no longer.
	 */
	void deafen(boolean deaf) {
		this.deaf = deaf;
	}

	@Override
	public <T> CompletionStage<T> send(Supplier<CompletionStage<T>> request) {
		this.requests++;
		CompletableFuture<T> answer = new CompletableFuture<>();
		if (this.cut) {
			answer.completeExceptionally(new IllegalStateException("there is no connection"));
			return answer;
		}
		this.underWay.add(answer);
		Random random = this.simulation.random();
		this.simulation.later(this.instance, TIMEOUT, () -> {
			if (this.underWay.remove(answer)) {
				answer.completeExceptionally(new IllegalStateException("no answer within 1 s"));
			}
		});
		if (!this.faults.requestIsLost(random)) {
			this.requestsArrive = arrival(this.requestsArrive);
			boolean twice = this.faults.requestIsRepeated(random);
			this.simulation.later(null, this.requestsArrive - this.simulation.now(),
					() -> arrive(request, answer, twice));
		}
		return answer;
	}

	private <T> void arrive(Supplier<CompletionStage<T>> request, CompletableFuture<T> answer, boolean twice) {
		if (this.cut) {
			return;
		}
		CompletionStage<T> result;
		try {
			result = request.get();
			if (twice) {
				request.get();
			}
		}
		catch (RuntimeException ex) {
			result = CompletableFuture.failedFuture(ex);
		}
		if (this.faults.answerIsLost(this.simulation.random())) {
			return;
		}
		this.answersArrive = arrival(this.answersArrive);
		result.whenComplete(
				(value, ex) -> this.simulation.later(this.instance, this.answersArrive - this.simulation.now(), () -> {
					if (this.underWay.remove(answer)) {
						if (ex != null) {
							answer.completeExceptionally((ex instanceof UnusableStoreException) ? ex
									: new IllegalStateException("the server has failed", ex));
						}
						else {
							answer.complete(value);
						}
					}
				}));
	}

	@Override
	public void later(long nanos, Runnable action) {
		this.simulation.later(this.instance, nanos, action);
	}

	@Override
	public void deliver(Runnable message) {
		if (!this.cut && !this.deaf && !this.faults.messageIsLost(this.simulation.random())) {
			this.messagesArrive = arrival(this.messagesArrive);
			this.simulation.later(this.instance, this.messagesArrive - this.simulation.now(), message);
		}
	}

	/** In order, after some microseconds, and now and then much later. */
	private long arrival(long last) {
		Random random = this.simulation.random();
		long delay = TimeUnit.MICROSECONDS.toNanos(50 + random.nextInt(200));
		if (random.nextInt(100) == 0) {
			delay += TimeUnit.MILLISECONDS.toNanos(random.nextInt(20));
		}
		delay += this.faults.slowness(random);
		return Math.max(last + 1, this.simulation.now() + delay);
	}

}
