function [tau, Y] = evaluate_model(model, q, qd, qdd)
% EVALUATE_MODEL  Torques of a model that psdm exported, at many states at once. Runs unchanged in MATLAB (R2016b or later) and in GNU Octave.
%
%   psdm derive robot.yaml --export model.mat
%
%   model = load('model.mat');
%   tau = evaluate_model(model, q, qd, qdd)        (states x n) from (states x n) each
%   [tau, Y] = evaluate_model(model, q, qd, qdd)   and Y (n x l x states) with tau(i, :)' = Y(:, :, i) * theta
%
% The model is tau_j = y(q, qd, qdd) P_j theta. Each of the p functions y is a product of powers of [q, sin q, cos q, qd, qdd] with exponents
% model.E (5n x p); a function of positions alone has the length of gravity as a factor. model.P (p x l x n) gives the contribution of the l base parameters
% model.theta, named by model.names, to the torque of each joint.

  [E, P] = deal(model.E, model.P);
  [states, n] = size(q);
  l = size(P, 2);
  if size(E, 1) ~= 5 * n || any(size(qd) ~= [states, n]) || any(size(qdd) ~= [states, n])
    error('evaluate_model: q, qd and qdd must have a row for each state and %d columns', size(E, 1) / 5);
  end

  % functions, (states x p): one factor after the other, where its power is not zero
  x = [q, sin(q), cos(q), qd, qdd];
  y = ones(states, size(E, 2));
  for i = 1:5 * n
    with = find(E(i, :));
    y(:, with) = y(:, with) .* x(:, i) .^ E(i, with);
  end
  still = ~any(E(3 * n + 1:end, :), 1);
  y(:, still) = model.gravity * y(:, still);

  % torques, joint by joint
  tau = zeros(states, n);
  if nargout < 2
    for j = 1:n
      tau(:, j) = y * (P(:, :, j) * model.theta);
    end
    return
  end
  Y = zeros(n, l, states);
  for j = 1:n
    rows = y * P(:, :, j);
    tau(:, j) = rows * model.theta;
    Y(j, :, :) = reshape(rows', 1, l, states);
  end
end
