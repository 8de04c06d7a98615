// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;

import io.r2dbc.spi.Connection;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DelegatingTransactionDefinition;

/**
 * The definition of a reactive transaction that claims, and how far its beginning is. A
 * cancellation does not interrupt a beginning that has a connection. A pool would lend
 * the connection to another transaction while the claim waits, and the rollback would
 * concern that one.
 */
@SuppressWarnings("serial")
final class R2dbcBeginning extends DelegatingTransactionDefinition {

	private enum Step {

		CONNECTING, CLAIMING, BEGUN, CANCELLED

	}

	private final R2dbcClaims claims;

	private final AtomicReference<Step> step = new AtomicReference<>(Step.CONNECTING);

	private volatile @Nullable Connection connection;

	R2dbcBeginning(TransactionDefinition definition, R2dbcClaims claims) {
		super(definition);
		this.claims = claims;
	}

	R2dbcClaims claims() {
		return this.claims;
	}

	/**
	 * Note that there is a connection, to which no request was sent yet.
	 */
	void connected(Connection connection) {
		this.connection = connection;
		this.step.compareAndSet(Step.CONNECTING, Step.CLAIMING);
	}

	/**
	 * Begin, to the end if there is a connection.
	 * @param begin begins the transaction
	 * @param giveUp called at a cancellation, before anybody else learns of it
	 */
	Mono<Void> run(Mono<Void> begin, Runnable giveUp) {
		return Mono.create((sink) -> {
			Disposable beginning = begin.contextWrite(sink.contextView()).subscribe((nothing) -> {
			}, (failure) -> fail(failure, sink), () -> succeed(sink));
			// Not called if the end has come first
			sink.onCancel(() -> {
				Step reached = this.step.getAndSet(Step.CANCELLED);
				giveUp.run();
				if (reached == Step.CONNECTING) {
					beginning.dispose();
				}
				else if (reached == Step.BEGUN) {
					rollBack();
				}
			});
		});
	}

	private void succeed(MonoSink<Void> sink) {
		Step reached = this.step.getAndUpdate((last) -> (last != Step.CANCELLED) ? Step.BEGUN : last);
		if (reached != Step.CANCELLED) {
			sink.success();
		}
		else {
			rollBack();
		}
	}

	private void fail(Throwable failure, MonoSink<Void> sink) {
		if (!isCancelled()) {
			sink.error(failure);
		}
	}

	private void rollBack() {
		Connection begun = this.connection;
		if (begun != null) {
			undo(begun).subscribe();
		}
	}

	/**
	 * Roll back, and close the connection too if nobody waits for it. Spring would look
	 * at the context to close it, which belongs to an outer transaction then.
	 */
	Mono<Void> undo(Connection begun) {
		return Mono.from(begun.rollbackTransaction())
			.onErrorComplete()
			.then(Mono.defer(() -> isCancelled() ? Mono.from(begun.close()) : Mono.empty()))
			.onErrorComplete();
	}

	/**
	 * Fail if nobody waits for the transaction any more.
	 */
	Mono<Void> ensureAwaited() {
		return Mono.defer(() -> isCancelled() ? Mono.error(new CancellationException()) : Mono.empty());
	}

	private boolean isCancelled() {
		return this.step.get() == Step.CANCELLED;
	}

}
