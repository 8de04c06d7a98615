// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * The {@code #root} object of key expressions.
 *
 * @param method the annotated method
 * @param target the bean
 * @param args the arguments of the call
 */
record KeyEvaluationRoot(Method method, Object target, @Nullable Object[] args) {
}
