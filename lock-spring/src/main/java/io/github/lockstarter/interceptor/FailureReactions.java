// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnUnavailable;

/**
 * Finds the reactions of a method whose locks cannot be acquired: those of its
 * annotations, or else those of the settings of its lock names.
 */
final class FailureReactions {

	private static final String FALLBACKS = "Declare a method of that name in the same class, with the same parameters"
			+ " and return type. It may have one more parameter, which receives the LockException.";

	private final LockAttributes attributes;

	private final LockSettings settings;

	FailureReactions(LockAttributes attributes, LockSettings settings) {
		this.attributes = attributes;
		this.settings = settings;
	}

	/**
	 * Return the reactions of a method.
	 * @param annotations the annotations of the method, which agree on the reactions
	 * @param names the names of its locks
	 * @throws InvalidLockDefinitionException if the method cannot have these reactions
	 */
	FailurePolicy find(List<DistributedLock> annotations, List<String> names, Method method, Class<?> targetClass) {
		OnContention onContention = said(annotations, DistributedLock::onContention, OnContention.DEFAULT);
		String ofContention = (onContention == null) ? source(names) : "";
		OnUnavailable onUnavailable = said(annotations, DistributedLock::onUnavailable, OnUnavailable.DEFAULT);
		String ofUnavailable = (onUnavailable == null) ? source(names) : "";
		if (onContention == null) {
			onContention = this.settings.onContention(names);
		}
		if (onUnavailable == null) {
			onUnavailable = this.settings.onUnavailable(names);
		}
		FallbackMethod fallback = fallback(annotations.get(0), onUnavailable, method, targetClass);
		if (fallback == null && onUnavailable == OnUnavailable.FALLBACK) {
			throw new InvalidLockDefinitionException(method,
					"onUnavailable = FALLBACK" + ofUnavailable + " needs a fallback",
					"Name a fallback method with 'fallback', or use onUnavailable = THROW.", null);
		}
		if (fallback == null && onContention == OnContention.SKIP && method.getReturnType().isPrimitive()
				&& method.getReturnType() != void.class) {
			throw new InvalidLockDefinitionException(method,
					"onContention = SKIP" + ofContention + " has no empty result of type " + method.getReturnType(),
					"Return an object type, which may be null, or an Optional; or name a fallback.", null);
		}
		return new FailurePolicy(onContention, onUnavailable, fallback, ReturnTypes.empty(method, targetClass));
	}

	/**
	 * Return the value that one of the annotations gives an attribute, or {@code null} if
	 * all of them leave it out.
	 */
	static <E extends Enum<E>> @Nullable E said(List<DistributedLock> annotations,
			Function<DistributedLock, E> attribute, E leftOut) {
		return annotations.stream().map(attribute).filter((value) -> value != leftOut).findFirst().orElse(null);
	}

	private static String source(List<String> names) {
		return ", from the settings of '" + String.join("', '", names) + "',";
	}

	private @Nullable FallbackMethod fallback(DistributedLock annotation, OnUnavailable onUnavailable, Method method,
			Class<?> targetClass) {
		String name = this.attributes.text("fallback", annotation.fallback(), method);
		if (name.isBlank()) {
			return null;
		}
		List<Class<? extends LockException>> reasons = (onUnavailable == OnUnavailable.FALLBACK)
				? List.of(LockContendedException.class, LockUnavailableException.class)
				: List.of(LockContendedException.class);
		return LockAttributes.check("fallback", method, FALLBACKS,
				() -> FallbackMethod.find(name, method, targetClass, reasons));
	}

}
