// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.lang.annotation.Annotation;
import java.util.Collection;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Chooses the bean of the application through which a store reaches its servers.
 */
final class BeanChoice {

	private BeanChoice() {
	}

	/**
	 * Return the bean with a qualifier, or else the only or the primary one, or
	 * {@code null} if there is none.
	 * @throws LockStoreNotFoundException if there are several
	 */
	static <T> @Nullable T choose(ObjectProvider<T> qualified, ObjectProvider<T> all,
			Class<? extends Annotation> qualifier) {
		try {
			T bean = qualified.getIfAvailable();
			return (bean != null) ? bean : all.getIfAvailable();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			String type = Objects.requireNonNull(ex.getBeanType()).getSimpleName();
			Collection<String> names = ex.getBeanNamesFound();
			throw new LockStoreNotFoundException(
					"Distributed locks need one " + type + " bean, but there are several: "
							+ ((names != null) ? "'" + String.join("', '", names.stream().sorted().toList()) + "'"
									: ex.getMessage()),
					"annotate one of these beans with @" + qualifier.getSimpleName()
							+ ", mark one of them as @Primary");
		}
	}

}
