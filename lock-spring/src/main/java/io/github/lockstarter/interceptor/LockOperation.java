// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.log.LogMessage;

import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockFailureHandler;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockedBody;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.TransactionFencing;

/**
 * The lock or locks of a method and how its calls run under them, checked as far as
 * possible without a call.
 *
 * @param registry the name or qualifier of the registry, empty for the default one
 * @param locks the locks, one for each annotation
 * @param adapter runs a call until its work is complete
 * @param onFailure the reaction if the locks cannot be acquired
 * @param onLost the reaction to the loss of a lock
 * @param transactionFencing whether transactions claim the fencing token
 */
record LockOperation(String registry, List<KeyedRequest> locks, InvocationAdapter adapter, FailurePolicy onFailure,
		OnLost onLost, TransactionFencing transactionFencing) {

	private static final Log logger = LogFactory.getLog(LockOperation.class);

	/**
	 * Return a template with the reactions of this operation.
	 */
	LockTemplate template(LockTemplate defaults) {
		return defaults.withOnLost(this.onLost)
			.withTransactionFencing(this.transactionFencing)
			.withSkips(this.onFailure.skips());
	}

	/**
	 * Run a call under its locks.
	 * @param template the template of this operation
	 * @param registry the registry that acquires the locks
	 * @throws IllegalArgumentException if the call has no usable key, or too many keys
	 */
	@Nullable Object invoke(MethodInvocation invocation, LockTemplate template, LockRegistry registry) throws Throwable {
		return this.adapter.invoke(new Call(this, registry, invocation), locks(invocation), template);
	}

	private Locks locks(MethodInvocation invocation) {
		List<LockRequest> requests = new ArrayList<>();
		boolean several = this.locks.size() > 1;
		for (KeyedRequest lock : this.locks) {
			several |= lock.resolve(invocation, requests);
		}
		return new Locks(requests, several);
	}

	/**
	 * The lock or locks of a call.
	 *
	 * @param requests a request for each of them
	 * @param several whether they are a set, even of one lock
	 */
	record Locks(List<LockRequest> requests, boolean several) {

		@Nullable Object execute(LockTemplate template, LockedBody<LeaseSet, @Nullable Object, Throwable> body,
				LockFailureHandler<@Nullable Object, Throwable> otherwise) throws Throwable {
			return this.several ? template.<@Nullable Object, Throwable>executeChecked(this.requests, body, otherwise)
					: template.<@Nullable Object, Throwable>executeChecked(this.requests.get(0), body, otherwise);
		}

		<T extends @Nullable Object> CompletableFuture<T> executeAsync(LockTemplate template,
				LockedBody<LeaseSet, CompletionStage<T>, Throwable> body,
				LockFailureHandler<CompletionStage<T>, Throwable> otherwise) {
			return this.several ? template.executeAsyncOrElse(this.requests, body, otherwise)
					: template.executeAsyncOrElse(this.requests.get(0), body, otherwise);
		}

	}

	/**
	 * The lock or locks of one annotation.
	 *
	 * @param request the request for the lock of the whole name
	 * @param key the expression for the keys, or {@code null} for the lock of the whole
	 * name
	 */
	record KeyedRequest(LockRequest request, @Nullable LockKeyExpression key) {

		/**
		 * Add a request for each key of a call.
		 * @return whether the value of the key is a collection, even with one element
		 */
		private boolean resolve(MethodInvocation invocation, List<LockRequest> requests) {
			if (this.key == null) {
				requests.add(this.request);
				return false;
			}
			LockKeyExpression.Keys keys = this.key.evaluate(this.request.key().name(), invocation.getThis(),
					invocation.getArguments());
			keys.all().forEach((each) -> requests.add(this.request.withKey(each)));
			return keys.several();
		}

	}

	/**
	 * The reaction to a lock that cannot be acquired.
	 *
	 * @param onContention the reaction to contention without a fallback
	 * @param onUnavailable the reaction to a store that does not answer
	 * @param fallback the method to call instead, or {@code null}
	 * @param skipped the result of a skipped call
	 */
	record FailurePolicy(OnContention onContention, OnUnavailable onUnavailable, @Nullable FallbackMethod fallback,
			@Nullable Object skipped) {

		/**
		 * Return whether a call is skipped if its lock is contended.
		 */
		boolean skips() {
			return this.fallback == null && this.onContention == OnContention.SKIP;
		}

	}

	/**
	 * A call of the method: what an {@link InvocationAdapter} runs, with the lock or
	 * without it.
	 */
	record Call(LockOperation operation, LockRegistry registry, MethodInvocation invocation) {

		/**
		 * Return an independent copy, for a call that runs later or more than once.
		 */
		Call copy() {
			MethodInvocation copy = this.invocation;
			if (copy instanceof ProxyMethodInvocation proxied) {
				copy = proxied.invocableClone();
			}
			return new Call(this.operation, this.registry, copy);
		}

		@Nullable Object proceed() throws Throwable {
			return this.invocation.proceed();
		}

		/**
		 * Return the result of a call whose lock could not be acquired.
		 */
		@Nullable Object otherwise(LockException reason) throws Throwable {
			FailurePolicy policy = this.operation.onFailure;
			boolean contended = reason instanceof LockContendedException;
			if (policy.fallback != null && (contended || policy.onUnavailable == OnUnavailable.FALLBACK)) {
				return policy.fallback.invoke(this.invocation, reason);
			}
			if (contended && policy.skips()) {
				logger.debug(LogMessage.format("Skipped '%s': %s",
						InvalidLockDefinitionException.label(this.invocation.getMethod()), reason.getMessage()));
				return policy.skipped;
			}
			throw reason;
		}

	}

}
