// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ParseException;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.store.LockStores;

/**
 * Turns the annotations of a method into the definition of its lock, or reports why they
 * cannot work.
 */
final class LockDefinitionParser {

	private final LockAttributes attributes;

	private final BeanResolver beans;

	private final Predicate<String> beanNames;

	private final LockSettings settings;

	private final Supplier<@Nullable LockStores> stores;

	/** The method to which each default name belongs. */
	private final Map<String, String> defaultNames = new ConcurrentHashMap<>();

	/**
	 * Create a parser.
	 * @param settings the settings of lock names
	 * @param stores provides the stores of the application, if they are known
	 */
	LockDefinitionParser(StringValueResolver placeholders, BeanResolver beans, Predicate<String> beanNames,
			LockSettings settings, Supplier<@Nullable LockStores> stores) {
		this.attributes = new LockAttributes(placeholders);
		this.beans = beans;
		this.beanNames = beanNames;
		this.settings = settings;
		this.stores = stores;
	}

	/**
	 * Parse the annotations of a method.
	 * @param annotations the annotations that apply to the method
	 * @param method a method of the target class
	 * @param targetClass the class of the bean
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	LockDefinition parse(List<DistributedLock> annotations, Method method, Class<?> targetClass) {
		DistributedLock annotation = annotations.get(0);
		InvocationAdapter adapter = ReturnTypes.adapter(method, targetClass);
		if (adapter == null) {
			throw invalid(method,
					"its return type " + method.getReturnType().getSimpleName()
							+ " lets the work continue after the method has returned and the lock is released",
					"Return the result itself, a CompletableFuture, or a Mono or Flux where Reactor is on the"
							+ " class path; or acquire the lock inside the work with a LockTemplate.",
					null);
		}
		if (annotation.transactionFencing() == TransactionFencing.ON && adapter instanceof ReactiveInvocationAdapter) {
			throw invalid(method, "transactionFencing is 'ON', but transactions of a reactive chain cannot be fenced",
					"Check the fencing token of the lease in each write, as in"
							+ " \"update … set fence = :token where … and fence < :token\".",
					null);
		}
		annotations.forEach((other) -> requireSameReaction(annotation, other, method));
		List<KeyedRequest> locks = annotations.stream()
			.map((each) -> new KeyedRequest(request(each, method, targetClass), key(each, method)))
			.toList();
		LeaseParameter leaseParameter = LeaseParameter.of(method);
		if (leaseParameter.single() && (locks.size() > 1 || locks.get(0).isForSeveralKeys())) {
			throw invalid(method, "a parameter of type Lease cannot receive the leases of several locks",
					"Declare it as a LeaseSet.", null);
		}
		List<String> names = locks.stream().map((lock) -> lock.request().key().name()).distinct().toList();
		FailurePolicy onFailure = new FailureReactions(this.attributes, this.settings).find(annotations, names, method,
				targetClass);
		OnLost onLost = FailureReactions.said(annotations, DistributedLock::onLost, OnLost.DEFAULT);
		List<KeyedRequest> together = (locks.size() == 1) ? locks
				: new CommonStore(this.settings, this.stores.get()).require(locks, method);
		return new LockDefinition(together, onFailure, (onLost != null) ? onLost : OnLost.DEFAULT,
				annotation.onActiveTransaction(), annotation.transactionFencing(), annotation.persistenceContext(),
				leaseParameter, adapter);
	}

	/** All locks are acquired in one wait, so they succeed or fail together. */
	private void requireSameReaction(DistributedLock one, DistributedLock other, Method method) {
		requireSame("waitTime", one.waitTime(), other.waitTime(), method);
		requireSame("onContention", text(one.onContention()), text(other.onContention()), method);
		requireSame("onUnavailable", text(one.onUnavailable()), text(other.onUnavailable()), method);
		requireSame("fallback", one.fallback(), other.fallback(), method);
		requireSame("onLost", text(one.onLost()), text(other.onLost()), method);
		requireSame("onActiveTransaction", one.onActiveTransaction(), other.onActiveTransaction(), method);
		requireSame("transactionFencing", one.transactionFencing(), other.transactionFencing(), method);
		requireSame("persistenceContext", one.persistenceContext(), other.persistenceContext(), method);
	}

	/** A reaction that is left out agrees with its default. */
	private static String text(Enum<?> reaction) {
		return reaction.name().equals("DEFAULT") ? "THROW" : reaction.name();
	}

	private void requireSame(String attribute, Object one, Object other, Method method) {
		if (!one.equals(other)) {
			throw invalid(method, attribute + " is '" + one + "' in one annotation and '" + other + "' in another",
					"Use the same value in all annotations of the method.", null);
		}
	}

	private LockRequest request(DistributedLock annotation, Method method, Class<?> targetClass) {
		String name = this.attributes.text("name", annotation.name(), method);
		String effective = name.isBlank() ? defaultName(method, targetClass) : name;
		requireLabel(effective, method);
		LockKey key = LockAttributes.check("name", method, "Set 'name' to a valid label.", () -> LockKey.of(effective));
		Duration waitTime = this.attributes.duration("waitTime", annotation.waitTime(), method);
		Duration leaseTime = this.attributes.duration("leaseTime", annotation.leaseTime(), method);
		String store = this.attributes.text("store", annotation.store(), method);
		LockRequest inDefault = LockRequest.of(key).withMode(annotation.mode());
		LockRequest defaults = store.isBlank() ? inDefault : inDefault.withStore(store);
		LockRequest waiting = (waitTime == null) ? defaults : LockAttributes.check("waitTime", method,
				"Use \"0s\" to try without waiting.", () -> defaults.withWaitTime(waitTime));
		LockRequest leased = (leaseTime == null) ? waiting
				: LockAttributes.check("leaseTime", method,
						"Leave it out for a lease that is renewed until the method ends.",
						() -> waiting.withLeaseTime(leaseTime));
		Duration holdAtLeast = this.attributes.duration("holdAtLeast", annotation.holdAtLeast(), method);
		return (holdAtLeast == null) ? leased
				: LockAttributes.check("holdAtLeast", method,
						"Leave it out for a shared lock, or for a lock that is free when the method returns.",
						() -> leased.withHoldAtLeast(holdAtLeast));
	}

	/** A parameter in the name would be one lock for all values of the parameter. */
	private static void requireLabel(String name, Method method) {
		KeyVariables variables = new KeyVariables(method);
		Matcher references = KeyVariables.REFERENCE.matcher(name);
		while (references.find()) {
			if (variables.isParameter(references.group(1))) {
				throw invalid(method,
						"name \"" + name + "\" is a static label, so " + references.group() + " is not evaluated",
						"Use key = \"" + references.group() + "\".", null);
			}
		}
	}

	private @Nullable LockKeyExpression key(DistributedLock annotation, Method method) {
		String text = this.attributes.text("key", annotation.key(), method);
		if (annotation.key().isEmpty()) {
			return null;
		}
		if (text.isBlank()) {
			throw invalid(method, "key is blank" + (text.equals(annotation.key()) ? "" : ", from " + annotation.key()),
					"Leave it out for one lock per name, or give an expression such as \"#id\".", null);
		}
		LockKeyExpression key;
		try {
			key = new LockKeyExpression(text, method, this.beans);
		}
		catch (ParseException ex) {
			throw invalid(method, "key \"" + text + "\" is not a SpEL expression: " + ex.getMessage(),
					"Write a parameter as \"#id\" and a constant as \"'text'\".", ex);
		}
		requireKnownReferences(key, text, method);
		if (key.isParameterOf(BaseStream.class)) {
			throw invalid(method, "key \"" + text + "\" is a stream, which would be consumed before the method runs",
					"Declare the parameter as a collection.", null);
		}
		if (key.isParameterOf(Map.class)) {
			throw invalid(method, "key \"" + text + "\" is a map, which is neither a key nor a collection of keys",
					"Add .keySet(), or use an expression with a single value.", null);
		}
		return key;
	}

	private void requireKnownReferences(LockKeyExpression key, String text, Method method) {
		List<String> unknown = key.unknownReferences();
		if (!unknown.isEmpty()) {
			throw invalid(method,
					"key \"" + text + "\" uses " + String.join(", ", unknown)
							+ ((unknown.size() == 1) ? ", which does not exist" : ", which do not exist"),
					key.advice(), null);
		}
		key.beans().stream().filter(this.beanNames.negate()).findFirst().ifPresent((bean) -> {
			throw invalid(method, "key \"" + text + "\" uses the bean '" + bean + "', which does not exist",
					"Correct the name, or declare a bean of that name.", null);
		});
		String unquoted = key.unquoted();
		if (unquoted != null) {
			throw invalid(method, "key \"" + text + "\" has a parameter inside quotes, where it is not evaluated",
					"Write \"" + unquoted + "\".", null);
		}
	}

	/**
	 * Return the name of a method that gives none. It is short, so two methods may have
	 * the same one; they would exclude each other, and with {@code SKIP} in silence.
	 */
	private String defaultName(Method method, Class<?> targetClass) {
		String name = ClassUtils.getShortName(targetClass) + '.' + method.getName();
		String parameters = Arrays.stream(method.getParameterTypes())
			.map(Class::getTypeName)
			.collect(Collectors.joining(", ", "(", ")"));
		String self = ClassUtils.getUserClass(targetClass).getName() + '.' + method.getName() + parameters;
		String other = this.defaultNames.putIfAbsent(name, self);
		if (other != null && !other.equals(self)) {
			throw invalid(method,
					"its default name '" + name + "' is also the one of '" + other
							+ "', so the two methods would have one lock",
					"Set 'name' on each of them, to the same text if they shall exclude each other.", null);
		}
		return name;
	}

	private static InvalidLockDefinitionException invalid(Method method, String problem, String action,
			@Nullable Throwable cause) {
		return new InvalidLockDefinitionException(method, problem, action, cause);
	}

}
